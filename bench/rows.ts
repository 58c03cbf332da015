import type { Job, Template } from './job.ts'
import { expecting } from './job.ts'

const KiB = 2 ** 10
const MiB = 2 ** 20

/** Objects that must be there before a row: `<bucket>/<key>`, where `{n}` in the key counts from `from`. */
export interface Seed {
  readonly bucket: string
  readonly key: string
  readonly from: number
  readonly count: number
  readonly bytes: number
}

/** One row of the report: one operation on one kind of object. */
export interface Row {
  readonly name: string
  readonly title: string
  /** Largest ratio of CPU per operation, ours to versitygw's, that issue 3 asks for. */
  readonly aim?: number
  readonly seed?: Seed
  /** Buckets that must be there besides the seed's. */
  readonly bucket?: string
  /** Only these, where 64 makes no sense. */
  readonly concurrency?: readonly number[]
  /** What is sent. `base` is the path before the bucket, `slice` a number that no other slice of the run has. */
  work(base: string, slice: number, connections: number): Work
}

/** What a slice sends, what must be put there first, and the directory it leaves behind to be removed. */
interface Work
  extends Pick<Job, 'requests' | 'multipart' | 'background' | 'perSecond' | 'operations' | 'minimum' | 'warmup'> {
  readonly first?: Template
  readonly leaves?: string
}

const small: Seed = { bucket: 'get-4k', key: 'object-{n}', from: 1000, count: 1000, bytes: 4 * KiB }
const large: Seed = { bucket: 'get-64m', key: 'object-{n}', from: 0, count: 4, bytes: 64 * MiB }

function get(name: string, title: string, seed: Seed, aim: number, minimum = 0): Row {
  return {
    name,
    title,
    aim,
    seed,
    work: (base) => ({
      minimum,
      requests: [
        {
          method: 'GET',
          path: `${base}/${seed.bucket}/${seed.key}`,
          from: seed.from,
          count: seed.count,
          expect: expecting(200, { bytes: seed.bytes, offset: 0 }),
        },
      ],
    }),
  }
}

/** New keys without end when small; a ring of keys that are overwritten when large, so that the disk does not fill. */
function put(name: string, title: string, bytes: number, aim?: number): Row {
  return {
    name,
    title,
    ...(aim === undefined ? {} : { aim }),
    bucket: name,
    work: (base, slice, connections) => ({
      minimum: bytes < MiB ? 0 : connections,
      // One request on every connection, as a warm-up would be, is gigabytes.
      ...(bytes > MiB ? { warmup: 0 } : {}),
      leaves: `${name}/slice-${slice}`,
      requests: [
        {
          method: 'PUT',
          path: `${base}/${name}/slice-${slice}/object-{n}`,
          count: bytes < MiB ? 1e9 : Math.max(16, connections),
          body: bytes,
          expect: expecting(200),
        },
      ],
    }),
  }
}

/** Every page of a listing in turn, asked for with start-after, so that both servers get the same requests. */
function list(name: string, title: string, seed: Seed, aim: number | undefined, delimiter: boolean): Row {
  const pages = Math.ceil(seed.count / 1000)
  const requests = (base: string): Template[] =>
    Array.from({ length: pages }, (_, page) => {
      const last = seed.key.replace('{n}', String(seed.from + page * 1000 - 1))
      const query = [
        ...(delimiter ? ['delimiter=%2F'] : []),
        'list-type=2',
        'max-keys=1000',
        // A common prefix is left out only when all that it holds is: hence the last byte.
        ...(page === 0 ? [] : [`start-after=${encodeURIComponent(delimiter ? `${last.split('/')[0]}/~` : last)}`]),
      ].join('&')
      const expect = expecting(200, delimiter ? { prefixes: 1000 } : { keys: 1000 })
      return { method: 'GET', path: `${base}/${seed.bucket}`, query, expect }
    })
  return { name, title, ...(aim === undefined ? {} : { aim }), seed, work: (base) => ({ requests: requests(base) }) }
}

function complete(name: string, title: string, parts: number, partSize: number, operations: number): Row {
  return {
    name,
    title,
    bucket: name,
    ...(parts > 1 ? { concurrency: [8] } : {}),
    work: (base, slice, connections) => ({
      operations: Math.max(operations, connections),
      leaves: `${name}/slice-${slice}`,
      multipart: { path: `${base}/${name}/slice-${slice}/object-{n}`, from: 0, parts, partSize },
    }),
  }
}

const flat10k: Seed = { bucket: 'list-10k', key: 'object-{n}', from: 100_000, count: 10_000, bytes: 16 }
const flat100k: Seed = { bucket: 'list-100k', key: 'object-{n}', from: 100_000, count: 100_000, bytes: 16 }
const churning: Seed = { ...flat10k, bucket: 'list-churn' }
const folders: Seed = { bucket: 'list-folders', key: 'folder-{n}/object', from: 1000, count: 1000, bytes: 16 }
const folders10k: Seed = { ...folders, bucket: 'list-folders-10k', from: 10_000, count: 10_000 }

/** The rows, in the order of the report. Aims: issue 3. */
export const rows: readonly Row[] = [
  get('get-4k', 'GET 4 KiB', small, 0.35),
  {
    name: 'head',
    title: 'HEAD',
    aim: 0.35,
    seed: small,
    work: (base) => ({
      requests: [
        {
          method: 'HEAD',
          path: `${base}/${small.bucket}/${small.key}`,
          from: small.from,
          count: small.count,
          expect: expecting(200),
        },
      ],
    }),
  },
  {
    name: 'range-128k',
    title: 'GET of a range of 128 KiB',
    aim: 0.35,
    seed: large,
    work: (base) => ({
      requests: Array.from({ length: 500 }, (_, i) => {
        const bytes = 128 * KiB
        const offset = ((i * 7919) % 500) * bytes
        return {
          method: 'GET',
          path: `${base}/${large.bucket}/object-${i % large.count}`,
          headers: { Range: `bytes=${offset}-${offset + bytes - 1}` },
          expect: expecting(206, { bytes, offset }),
        }
      }),
    }),
  },
  put('put-4k', 'PUT 4 KiB', 4 * KiB, 0.8),
  {
    name: 'delete',
    title: 'DELETE',
    aim: 0.6,
    bucket: 'delete',
    work: (base, slice) => {
      const path = `${base}/delete/slice-${slice}/object-{n}`
      const count = 4000
      return {
        operations: count,
        first: { method: 'PUT', path, count, body: 4 * KiB, expect: expecting(200) },
        requests: [{ method: 'DELETE', path, count, expect: expecting(204) }],
        leaves: `delete/slice-${slice}`,
      }
    },
  },
  get('get-1m', 'GET 1 MiB', { bucket: 'get-1m', key: 'object-{n}', from: 0, count: 64, bytes: MiB }, 1.2),
  get('get-64m', 'GET 64 MiB', large, 1.0, 16),
  put('put-1m', 'PUT 1 MiB', MiB, 1.0),
  put('put-16m', 'PUT 16 MiB', 16 * MiB, 1.0),
  put('put-64m', 'PUT 64 MiB', 64 * MiB),
  list('list-10k', 'LIST page of 1,000 in 10,000 keys', flat10k, 0.4, false),
  list('list-100k', 'LIST page of 1,000 in 100,000 keys', flat100k, 0.12, false),
  list('list-folders', 'LIST page of 1,000 common prefixes in 1,000', folders, 1.0, true),
  list('list-folders-10k', 'LIST page of 1,000 common prefixes in 10,000', folders10k, undefined, true),
  {
    ...list('list-churn', 'LIST page of 1,000 in 10,000 keys, 10 PUT a second among them', churning, undefined, false),
    work(base, slice) {
      const { requests } = list('', '', churning, undefined, false).work(base, slice, 0)
      const path = `${base}/list-churn/object-105000-${slice}-{n}`
      return {
        ...(requests ? { requests } : {}),
        background: { method: 'PUT', path, count: 1e6, body: 16, expect: expecting(200) },
        perSecond: 10,
      }
    },
  },
  complete('complete-1', 'CompleteMultipartUpload of one part of 1 MiB', 1, MiB, 200),
  complete('complete-8', 'CompleteMultipartUpload of 8 parts of 8 MiB', 8, 8 * MiB, 16),
]
