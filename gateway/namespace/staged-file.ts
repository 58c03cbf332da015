import type { Digest } from '../s3/checksum.ts'
import type { ActingUser } from './acting-user.ts'
import { enterUpload, giveBlock, takeBlock } from './blocks.ts'
import type { KeyPath } from './key-path.ts'
import type { Published, Staged, StagedFile } from './namespace.ts'
import { isLost, type NamespaceThread, unavailable } from './namespace-thread.ts'
import type { StepArguments, StepName, StepResult } from './steps/index.ts'
import type { WireFinished, WireStaged } from './steps/stage.ts'
import { syncDirectories, syncFile } from './sync.ts'
import type { ThreadPool } from './thread-pool.ts'

/** What a staged file is about. */
export interface Staging {
  readonly steps: ThreadPool
  /** Threads for contents, which take long: small steps do not wait behind them. */
  readonly contents: () => ThreadPool
  readonly as: ActingUser | undefined
  readonly bucket: string
  readonly key: KeyPath
  readonly hidden: string
  readonly digests: readonly Digest[]
}

/** Blocks of one upload that are being written while the next is filled. */
const mostInFlight = 2

/** Bytes that a step for small things may write and digest. */
const mostAtOnce = 64 * 1024

/** Bytes copied in one step within the kernel, and where they are read and written. */
const kernelSlice = 64 * 1024 * 1024
const digestedSlice = 4 * 1024 * 1024

let uploads = 0

/** A file on its way to become an object. Its content is gathered into blocks, written and digested by a thread. */
export class PosixStaged implements Staged {
  readonly temp: string
  readonly #upload: number
  readonly #staging: Staging
  readonly #open: WireStaged
  readonly #leave: () => void
  readonly #inFlight: Promise<void>[] = []
  #finished: StagedFile | undefined
  #stamp: bigint | undefined
  #block: ArrayBuffer | undefined
  #filled = 0
  #position = 0
  #failure: unknown
  #isOver = false
  /** All blocks of a file go to one thread, which keeps the digests. */
  #thread: NamespaceThread | undefined

  constructor(staging: Staging, open: WireStaged, finished?: StagedFile, stamp?: bigint) {
    const { bucket, key, hidden } = staging
    this.#staging = staging
    this.#open = open
    this.#stamp = stamp
    this.#finished = finished ?? (open.finished && fileOf(open.finished, staging.digests))
    this.temp = key.folder === '' ? `${bucket}/${hidden}` : `${bucket}/${key.folder}/${hidden}`
    uploads = (uploads + 1) & 0x3fffffff
    this.#upload = uploads
    this.#leave = this.#finished === undefined ? enterUpload() : () => {}
  }

  get fd(): number {
    return this.#open.fd
  }

  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      this.#block ??= takeBlock()
      const room = new Uint8Array(this.#block, this.#filled)
      const part = bytes.subarray(at, at + room.length)
      room.set(part)
      at += part.length
      this.#filled += part.length
      if (part.length === room.length) await this.#send()
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  /**
   * Instead of `write`: copies from an open file, in the kernel where no digest is wanted. In slices, so that nothing is
   * held up; `onSlice` gets the bytes done before each and at the end, and may throw. Returns the bytes that were there.
   */
  async copyFrom(
    from: number,
    fromAt: number,
    at: number,
    length: number,
    onSlice?: (bytes: number) => void,
  ): Promise<number> {
    let done = 0
    for (let copied = -1; done < length && copied !== 0; done += copied) {
      onSlice?.(done)
      copied = await this.#copySlice(from, fromAt + done, at + done, length - done)
    }
    onSlice?.(done)
    return done
  }

  #copySlice(from: number, fromAt: number, at: number, length: number): Promise<number> {
    const { digests } = this.#staging
    const file = [this.#upload, from, fromAt, this.#open.fd, at] as const
    return digests.length === 0
      ? this.#run('copySlice', undefined, [...file, Math.min(length, kernelSlice)])
      : this.#run('copyDigested', undefined, [...file, Math.min(length, digestedSlice), digests])
  }

  async finish({ sync }: { sync: boolean }): Promise<StagedFile> {
    if (this.#finished === undefined) {
      const isSmall = this.#thread === undefined && this.#filled <= mostAtOnce
      const { digests } = this.#staging
      this.#finished = fileOf(isSmall ? await this.#finishWhole() : await this.#finishContent(), digests)
      this.#leave()
    }
    if (sync) await syncFile(this.#open.fd)
    return this.#finished
  }

  async #finishWhole(): Promise<WireFinished> {
    const { steps, as, digests } = this.#staging
    const block = this.#block ?? new ArrayBuffer(0)
    const file = [this.#open.fd, block, this.#filled, digests] as const
    const [finished, memory] = await this.#watch(steps.run('finishWhole', as, [...file], { transfer: [block] }))
    giveBlock(memory)
    return finished
  }

  async #finishContent(): Promise<WireFinished> {
    const { as, digests } = this.#staging
    if (this.#filled > 0) await this.#send()
    await Promise.all(this.#inFlight)
    if (this.#failure !== undefined) throw this.#failure
    return this.#run('finishContent', as, [this.#upload, this.#open.fd, digests])
  }

  async publish({ ifAbsent, sync }: { ifAbsent: boolean; sync: boolean }): Promise<Published> {
    const { steps, as, bucket, key, hidden } = this.#staging
    const { fd, directory, made, named } = this.#open
    const file = { bucket, key, fd, directory, made, hidden, named, stamp: this.#stamp }
    const [replaced, parent, directories] = await this.#watch(steps.run('publish', as, [{ ...file, ifAbsent, sync }]))
    this.#isOver = true
    await syncDirectories(directories)
    return { replaced, parent }
  }

  discard(): Promise<void> {
    return this.#end(this.#open.named)
  }

  release(): Promise<void> {
    return this.#end(false)
  }

  async #end(unlink: boolean): Promise<void> {
    this.#leave()
    await Promise.all(this.#inFlight)
    if (this.#isOver) return
    this.#isOver = true
    const { steps, as, hidden } = this.#staging
    const { fd, directory } = this.#open
    if (this.#finished === undefined && this.#thread !== undefined) {
      await this.#run('dropContent', undefined, [this.#upload]).catch(ignore)
    }
    await steps.run('discard', as, [fd, directory, hidden, unlink]).catch(ignore)
  }

  /** Sends what the block has, and waits until another may be filled. */
  async #send(): Promise<void> {
    const block = this.#block
    if (block === undefined) return
    const length = this.#filled
    const position = this.#position
    this.#block = undefined
    this.#filled = 0
    this.#position += length
    const { digests } = this.#staging
    const written = [this.#upload, this.#open.fd, position, block, length, digests] as const
    const writing = this.#run('writeBlock', undefined, [...written], [block])
      .then(giveBlock, (error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => this.#inFlight.splice(this.#inFlight.indexOf(writing), 1))
    this.#inFlight.push(writing)
    if (this.#inFlight.length >= mostInFlight) await this.#inFlight[0]
  }

  #run<N extends StepName>(
    step: N,
    as: ActingUser | undefined,
    arguments_: StepArguments<N>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<StepResult<N>> {
    const contents = this.#staging.contents()
    this.#thread ??= contents.bind()
    if (this.#thread === undefined) return Promise.reject(unavailable())
    return this.#watch(contents.run(step, as, arguments_, { on: this.#thread, transfer }))
  }

  /** The thread of a lost step may still use the descriptors: they must not be closed and become another file's. */
  async #watch<T>(step: Promise<T>): Promise<T> {
    try {
      return await step
    } catch (error) {
      if (isLost(error)) this.#isOver = true
      throw error
    }
  }
}

function fileOf([id, size, modifiedMs, digests]: WireFinished, names: readonly Digest[]): StagedFile {
  const values = names.map((name, index) => [name, Buffer.from(digests[index] ?? [])] as const)
  return { id, size, modifiedMs, digests: new Map(values) }
}

function ignore(): void {}
