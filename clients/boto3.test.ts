import { describe, test } from 'vitest'
import { pythonClient } from './setup/scenario-client.ts'

describe('boto3 with objects', () => {
  const run = pythonClient('clients', 'boto3_objects_scenarios.py')

  test('writes, reads, lists, copies and deletes objects and buckets', () => run('write_and_read'))
  test('gets back the headers and metadata it wrote, and replaces them in place', () => run('metadata_and_headers'))
  test('uses keys with every kind of odd character, listed in byte order', () => run('odd_keys'))
  test('moves a file in parts up, down and from key to key', () => run('multipart'))
  test('replaces, copies, lists and completes single parts by hand', () => run('multipart_by_hand'))
  test('pages through more than a thousand keys in both versions of the listing', () => run('listing'))
})

describe('boto3 with what belongs to objects', () => {
  const run = pythonClient('clients', 'boto3_details_scenarios.py')

  test('tags buckets and objects', () => run('tagging'))
  test('reads and writes on conditions', () => run('conditions'))
  test('finds bytes and metadata that belong together while eight clients write and delete the same keys', () =>
    run('racing_writers'))
  test('reads ranges', () => run('ranges'))
  test('has its checksums verified, kept and given back', () => run('checksums'))
})

describe('boto3 as a user', () => {
  const run = pythonClient('clients', 'boto3_access_scenarios.py')

  test('signs links in both versions that urllib follows', () => run('presigned'))
  test('acts as the user that the access key names, who is kept from the objects of others', () => run('two_users'))
  test('acts as the process user when it does not sign, and then sees no buckets', () => run('nobody_named'))
  test('may use the older Authorization header', () => run('old_authorization'))
  test('addresses a directory below a bucket as a bucket', () => run('nested_bucket'))
  test('is told what the gateway does not do', () => run('questions_before_the_work'))
})
