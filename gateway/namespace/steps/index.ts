import type { S3Error } from '../../s3/errors.ts'
import { check, createBucket, listBuckets, removeBucket, statBucket } from './bucket.ts'
import { copyDigested, copySlice, dropContent, finishContent, finishWhole, writeBlock } from './content.ts'
import { makeFolder } from './folder.ts'
import { list } from './list.ts'
import { holdsForeign, parts, removeParts } from './parts.ts'
import { publish } from './publish.ts'
import { open, statEntry } from './read.ts'
import { collect, remove } from './remove.ts'
import { planRenewal, renew, type WireRenewal } from './renew.ts'
import { adopt, discard, restage, stage, type WireStaged } from './stage.ts'

/** Every step a thread can take, by the name it is called by. */
export const steps = {
  adopt,
  check,
  collect,
  copyDigested,
  copySlice,
  createBucket,
  discard,
  dropContent,
  finishContent,
  finishWhole,
  holdsForeign,
  list,
  listBuckets,
  makeFolder,
  open,
  parts,
  planRenewal,
  publish,
  remove,
  removeBucket,
  removeParts,
  renew,
  restage,
  stage,
  statBucket,
  statEntry,
  writeBlock,
}

type Steps = typeof steps
export type StepName = keyof Steps

/** Arguments of a step, without the scene. */
export type StepArguments<N extends StepName> = Parameters<Steps[N]> extends [unknown, ...infer A] ? A : never

/** Result of a step, as it comes out of its last slice. A returned S3Error is as good as a thrown one, and cheaper. */
export type StepResult<N extends StepName> =
  ReturnType<Steps[N]> extends Generator<unknown, infer R> ? R : Exclude<ReturnType<Steps[N]>, S3Error>

/** Open descriptors in the result of a step: of one that nobody waits for they must be closed. */
export function descriptorsOf(step: StepName, value: unknown): readonly number[] {
  if (value === undefined) return []
  switch (step) {
    case 'open':
      return (value as StepResult<'open'>)[1] < 0 ? [] : [(value as StepResult<'open'>)[1]]
    case 'stage':
    case 'adopt':
    case 'restage':
      return [(value as WireStaged).fd, (value as WireStaged).directory]
    case 'publish':
      return (value as StepResult<'publish'>)[2]
    case 'makeFolder':
    case 'createBucket':
      return (value as StepResult<'makeFolder' | 'createBucket'>)[1]
    case 'planRenewal':
      return [(value as WireRenewal)[0]]
    default:
      return []
  }
}
