import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('an error that nobody caught is the last log line, after all that was pending', async () => {
  const [words, lines, log] = ['process/last-words.ts', 'telemetry/line-writer.ts', 'telemetry/log.ts'].map((path) =>
    JSON.stringify(join(import.meta.dirname, '..', path)),
  )
  const program = `
    import { keepLastWords } from ${words}
    import { LineWriter } from ${lines}
    import { createLog } from ${log}
    const writer = new LineWriter(1, false)
    keepLastWords(createLog({ logLevel: 'info' }, writer), writer)
    writer.write('pending\\n')
    setImmediate(() => { throw new Error('nobody catches this') })
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  const [first, last = ''] = output.trimEnd().split('\n')
  expect({ code, first }).toEqual({ code: 70, first: 'pending' })
  expect(JSON.parse(last)).toMatchObject({ level: 'fatal', err: { message: 'nobody catches this' } })
})
