import { AbortMultipartUpload } from './abort-multipart-upload.ts'
import { CompleteMultipartUpload } from './complete-multipart-upload.ts'
import { CopyObject } from './copy-object.ts'
import { CreateBucket } from './create-bucket.ts'
import { CreateMultipartUpload } from './create-multipart-upload.ts'
import { DeleteBucket } from './delete-bucket.ts'
import { DeleteBucketTagging } from './delete-bucket-tagging.ts'
import { DeleteObject } from './delete-object.ts'
import { DeleteObjectTagging } from './delete-object-tagging.ts'
import { DeleteObjects } from './delete-objects.ts'
import { GetBucketLocation } from './get-bucket-location.ts'
import { GetBucketTagging } from './get-bucket-tagging.ts'
import { GetBucketVersioning } from './get-bucket-versioning.ts'
import { GetObject } from './get-object.ts'
import { GetObjectTagging } from './get-object-tagging.ts'
import { HeadBucket } from './head-bucket.ts'
import { HeadObject } from './head-object.ts'
import { ListBuckets } from './list-buckets.ts'
import { ListMultipartUploads } from './list-multipart-uploads.ts'
import { ListObjects } from './list-objects.ts'
import { ListObjectsV2 } from './list-objects-v2.ts'
import { ListParts } from './list-parts.ts'
import type { Operation } from './operation.ts'
import { PutBucketTagging } from './put-bucket-tagging.ts'
import { PutObject } from './put-object.ts'
import { PutObjectTagging } from './put-object-tagging.ts'
import { UploadPart } from './upload-part.ts'
import { UploadPartCopy } from './upload-part-copy.ts'

/** Every operation, in the order of the specification (§4). This file is the table: routes, pools, docs and metrics. */
export const operations: readonly Operation<unknown>[] = [
  // Buckets
  ListBuckets,
  CreateBucket,
  HeadBucket,
  DeleteBucket,
  ListObjects,
  ListObjectsV2,
  ListMultipartUploads,
  DeleteObjects,
  GetBucketTagging,
  PutBucketTagging,
  DeleteBucketTagging,
  // Objects
  PutObject,
  GetObject,
  HeadObject,
  DeleteObject,
  CopyObject,
  GetObjectTagging,
  PutObjectTagging,
  DeleteObjectTagging,
  // Multipart
  CreateMultipartUpload,
  UploadPart,
  UploadPartCopy,
  ListParts,
  CompleteMultipartUpload,
  AbortMultipartUpload,
  // Beyond the specification, because clients ask them first (design §1)
  GetBucketLocation,
  GetBucketVersioning,
]
