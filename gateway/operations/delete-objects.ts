import { deleteMaxBytes, readDelete } from '../s3/delete-objects.ts'
import { S3Error } from '../s3/errors.ts'
import { deleteResult } from '../s3/xml/documents.ts'
import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { readDocument } from './read-document.ts'
import { xml } from './replies.ts'

export const DeleteObjects = operation({
  name: 'DeleteObjects',
  route: { method: 'POST', target: 'bucket', query: ['delete'] },
  pool: 'light',
  effect: 'write',
  summary: 'Removes up to 1,000 objects and folders, children before parents; errors are told for each key.',
  input: bucketOf,
  async run({ path }, { request, config, user, buckets, objects }) {
    const { keys, quiet } = readDelete(await readDocument(request, deleteMaxBytes))
    const vouched = await buckets.vouches(user, path)
    const wanted = keys.filter(({ refused }) => refused === undefined)
    const errors = await objects.removeAll(
      user,
      path,
      wanted.map(({ key }) => key),
    )
    const failures = new Map(wanted.map((key, index) => [key, errors[index]]))
    const outcomes = keys.map((key) => {
      const error = key.refused ?? failures.get(key)
      if (error?.code === 'NoSuchBucket') {
        if (!vouched) throw new S3Error('NoSuchBucket')
        return { key: key.key }
      }
      return error === undefined ? { key: key.key } : { key: key.key, code: error.code, message: error.message }
    })
    return xml(deleteResult(outcomes, { quiet, emptyDeleteMarker: config.emptyDeleteMarker }))
  },
})
