import { CreateBucket } from './create-bucket.ts'
import { DeleteBucket } from './delete-bucket.ts'
import { DeleteObject } from './delete-object.ts'
import { GetBucketLocation } from './get-bucket-location.ts'
import { GetBucketVersioning } from './get-bucket-versioning.ts'
import { HeadBucket } from './head-bucket.ts'
import { ListBuckets } from './list-buckets.ts'
import type { Operation } from './operation.ts'

/** Every operation, in the order of the specification (§4). This file is the table: routes, pools, docs and metrics. */
export const operations: readonly Operation<unknown>[] = [
  // Buckets
  ListBuckets,
  CreateBucket,
  HeadBucket,
  DeleteBucket,
  // Objects
  DeleteObject,
  // Beyond the specification: clients ask these first (design §1).
  GetBucketLocation,
  GetBucketVersioning,
]
