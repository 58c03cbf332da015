import { describe, test } from 'vitest'
import { pythonClient } from './setup/scenario-client.ts'

describe('object_store', () => {
  const run = pythonClient('clients', 'obstore_scenarios.py')

  test('writes, lists, copies, renames, reads back and deletes objects', () => run('write_and_read'))
  test('reads ranges, the last bytes among them', () => run('ranges'))
  test('uploads in parts', () => run('multipart'))
  test('pages through more than a thousand keys and lists what comes after one', () => run('listing'))
  test('creates only what is not there and updates only what it knows', () => run('conditions'))
  test('signs a link', () => run('signed'))
})
