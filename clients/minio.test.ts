import { describe, test } from 'vitest'
import { pythonClient } from './setup/scenario-client.ts'

describe('minio-py', () => {
  const run = pythonClient('clients', 'minio_scenarios.py')

  test('refuses an endpoint with a path, which is why there is an alias at /', () =>
    run('endpoint_with_a_path_is_refused'))
  test('writes, lists, copies, reads back and deletes odd keys', () => run('write_list_copy_delete'))
  test('uploads a stream in parts and composes an object from ranges', () => run('multipart_and_compose'))
  test('tags an object and signs a link', () => run('tags_and_presigned'))
  test('understands the errors', () => run('errors'))
})
