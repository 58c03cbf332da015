import { describe, test } from 'vitest'
import { goProgram } from './setup/go.ts'
import { scenarioClient } from './setup/scenario-client.ts'

describe('the AWS SDK for Go', () => {
  const run = scenarioClient(async () => [await goProgram('go')])

  test('writes, reads, lists, copies and deletes objects', () => run('write_and_read'))
  test('uses keys with odd characters, listed in byte order', () => run('odd_keys'))
  test('uploads a stream in parts and reads it back in parts', () => run('multipart'))
  test('pages through more than a thousand keys', () => run('listing'))
  test('deletes many keys at once and reads the answer in the order it asked', () => run('bulk_delete'))
  test('tags objects and buckets', () => run('tagging'))
  test('reads and writes on conditions', () => run('conditions'))
  test('reads ranges', () => run('ranges'))
  test('has all five checksums verified, kept and given back', () => run('checksums'))
  test('signs links', () => run('presigned'))
  test('gets errors of the right types', () => run('errors_are_typed'))
})
