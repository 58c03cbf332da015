import { describe, test } from 'vitest'
import { pythonClient } from './setup/scenario-client.ts'

describe('PyArrow', () => {
  const run = pythonClient('clients', 'pyarrow_scenarios.py')

  test('writes, lists, copies, moves, reads back and deletes files', () => run('write_and_read'))
  test('streams a file up in parts and reads any place in it', () => run('multipart_and_random_reads'))
  test('makes, empties and deletes directories', () => run('directories'))
  test('writes a partitioned dataset, reads it back filtered, replaces it and deletes it', () => run('datasets'))
})
