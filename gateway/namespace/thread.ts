import { parentPort, workerData } from 'node:worker_threads'
import { S3Error } from '../s3/errors.ts'
import { actAs } from './acting-user.ts'
import { close } from './libc.ts'
import { openMount } from './mount.ts'
import { setGranularity } from './stamp.ts'
import { descriptorsOf, steps } from './steps/index.ts'
import type { Scene, Step } from './steps/step.ts'
import { type Answer, type Call, stateWords, type ThreadData } from './thread-messages.ts'

/**
 * A namespace thread: runs steps one after the other, each as its acting user, and answers all that came together with
 * one message. See thread-pool.ts for the other end.
 */

const port = parentPort
if (port === null) throw new Error('thread.ts is to be run as a worker thread')
const { mount: options, granularity, state }: ThreadData = workerData
setGranularity(granularity)
const mount = openMount(options)
// Where nothing is there is an everyday answer; its stack would cost more than finding it out.
Error.stackTraceLimit = 0

const answers: Answer[] = []
const memory: ArrayBuffer[] = []
/** Long steps that have let others run. */
let unfinished: (readonly [Call, Generator])[] = []

port.on('message', (calls: readonly Call[]) => {
  if (calls.length === 0) leave()
  for (const call of calls) {
    Atomics.store(state, stateWords.begun, call[0])
    if (isAbandoned()) leave()
    begin(call)
  }
  answer()
})

// An empty message: at work.
port.postMessage(answers)

function begin(call: Call): void {
  const [, step, as, arguments_] = call
  settle(call, () => {
    if (mount.enforced) actAs(as)
    const scene: Scene = { mount, as, transfer: (bytes) => void memory.push(bytes) }
    const result = (steps[step] as Step)(scene, ...arguments_)
    return isGenerator(result) ? advance(call, result) : result
  })
}

const pending = Symbol('pending')

function advance(call: Call, generator: Generator): unknown {
  const { done, value } = generator.next()
  if (done) return value
  if (unfinished.length === 0) setImmediate(advanceAll)
  unfinished.push([call, generator])
  return pending
}

function advanceAll(): void {
  const round = unfinished
  unfinished = []
  for (const [call, generator] of round) {
    settle(call, () => {
      if (mount.enforced) actAs(call[2])
      return advance(call, generator)
    })
  }
  answer()
}

function settle([number, step]: Call, run: () => unknown): void {
  Atomics.add(state, stateWords.beats, 1)
  let value: unknown
  try {
    value = run()
  } catch (error) {
    value = error instanceof S3Error ? error : new S3Error('InternalError', undefined, { cause: String(error) })
  }
  if (value === pending) return
  if (value instanceof S3Error) {
    const { code, message, cause } = value
    answers.push([number, true, code, message, cause === undefined ? undefined : String(cause)])
  } else {
    answers.push([number, false, value])
    if (isAbandoned()) for (const fd of descriptorsOf(step, value)) close(fd)
  }
}

function answer(): void {
  if (isAbandoned()) leave()
  if (answers.length === 0) return
  port?.postMessage(answers, memory)
  answers.length = 0
  memory.length = 0
}

function isAbandoned(): boolean {
  return Atomics.load(state, stateWords.abandoned) === 1
}

/** The pool is closed (an empty message), or nobody waits for this thread any more: it stood still for too long. */
function leave(): never {
  process.exit()
}

function isGenerator(value: unknown): value is Generator {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value
}
