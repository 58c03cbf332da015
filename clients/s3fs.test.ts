import { describe, test } from 'vitest'
import { pythonClient } from './setup/scenario-client.ts'

describe('s3fs', () => {
  const run = pythonClient('s3fs', 's3fs_scenarios.py')

  test('writes, lists, copies, moves, reads back and deletes files', () => run('write_and_read'))
  test('writes a file in parts, seeks in it and appends to it', () => run('multipart'))
  test('moves a tree of more than a thousand files up and down and deletes it', () => run('trees'))
})
