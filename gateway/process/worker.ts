import { flushCompileCache } from 'node:module'
import { loadConfig } from '../config/load.ts'
import { properties } from '../config/properties.ts'
import { LineWriter } from '../telemetry/line-writer.ts'
import { createLog } from '../telemetry/log.ts'
import { keepLastWords } from './last-words.ts'
import { startLocalMember } from './local-member.ts'
import type { ToPrimary, ToWorker, WorkerStart } from './messages.ts'

/** Life of a worker process of the cluster: told by its primary what to do, gone when the primary is. */
export async function runWorker(start: WorkerStart): Promise<void> {
  const { config } = loadConfig({ sets: start.settings.map(({ key, text }) => `${properties[key].name}=${text}`) })
  const lines = new LineWriter(1, true)
  const log = createLog(config, lines)
  const tell = (message: ToPrimary) => process.send?.(message)
  // A terminal sends its Ctrl-C to all processes; the primary decides what becomes of it.
  process.on('SIGINT', () => {})
  process.on('disconnect', () => process.exit(1))
  keepLastWords(log, lines)

  try {
    const member = await startLocalMember({
      config,
      log,
      lines,
      demandChanged: (transfers) => tell({ type: 'demand', transfers }),
    })
    const end = async () => {
      await member.drain()
      process.exit(0)
    }
    process.on('SIGTERM', end)
    process.on('message', async (message: ToWorker) => {
      switch (message.type) {
        case 'ask':
          tell({
            type: 'answer',
            id: message.id,
            value: message.what === 'status' ? await member.status() : await member.snapshot(),
          })
          break
        case 'live':
          member.applyLive(message.changed)
          break
        case 'share':
          member.shareReadRate(message.bytesPerSecond)
          break
        case 'drain':
          await end()
      }
    })
    tell({ type: 'started', ports: member.ports })
    flushCompileCache()
  } catch (error) {
    log.debug({ err: error }, 'start failed')
    tell({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
    process.disconnect?.()
  }
}
