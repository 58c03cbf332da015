import { describe, test } from 'vitest'
import { goProgram } from './setup/go.ts'
import { pythonClient, scenarioClient } from './setup/scenario-client.ts'

// Over TLS the SDKs frame bodies otherwise: unsigned chunks with the checksum in a trailer.

describe('boto3 over TLS', () => {
  const objects = pythonClient('clients', 'boto3_objects_scenarios.py', { tls: true })
  const details = pythonClient('clients', 'boto3_details_scenarios.py', { tls: true })
  const access = pythonClient('clients', 'boto3_access_scenarios.py', { tls: true })

  test('writes, reads, lists, copies and deletes objects and buckets', () => objects('write_and_read'))
  test('moves a file in parts up, down and from key to key', () => objects('multipart'))
  test('has its checksums verified, kept and given back', () => details('checksums'))
  test('signs links that urllib follows', () => access('presigned'))
})

describe('PyArrow over TLS', () => {
  const run = pythonClient('clients', 'pyarrow_scenarios.py', { tls: true })

  test('streams a file up in parts and reads any place in it', () => run('multipart_and_random_reads'))
})

describe('the AWS SDK for Go over TLS', () => {
  const run = scenarioClient(async () => [await goProgram('go')], { tls: true })

  test('writes, reads, lists, copies and deletes objects', () => run('write_and_read'))
  test('streams a body that it cannot read twice', () => run('stream'))
  test('uploads a stream in parts and reads it back in parts', () => run('multipart'))
  test('has all five checksums verified, kept and given back', () => run('checksums'))
})
