import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { md5, processUser } from '../objects/objects.fixture.ts'
import { type OperationsFixture, openOperations } from './operations.fixture.ts'

let fixture: OperationsFixture

beforeAll(async () => {
  fixture = await openOperations()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.close())

const anonymous = { ...processUser, authenticated: false }
const keysOf = (text: string) => [...text.matchAll(/<Contents><Key>(.*?)<\/Key>/g)].map((match) => match[1])
const prefixesOf = (text: string) =>
  [...text.matchAll(/<CommonPrefixes><Prefix>(.*?)<\/Prefix>/g)].map((match) => match[1])
const element = (text: string, name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1]

describe('buckets', () => {
  test('are made, found, listed and removed (spec §4)', async () => {
    expect(await fixture.ask('PUT /new')).toMatchObject({ status: 200, text: '', headers: { Location: '/new' } })
    expect(await fixture.ask('HEAD /new')).toMatchObject({ status: 200, headers: { 'Content-Length': '0' } })
    expect((await fixture.ask('GET /')).text).toMatch(
      /<Buckets><Bucket><Name>b<\/Name><CreationDate>[^<]+Z<\/CreationDate><\/Bucket><Bucket><Name>new<\/Name>/,
    )
    expect((await fixture.ask('DELETE /new')).status).toBe(204)
    expect(await fixture.ask('HEAD /new')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
    expect(await fixture.ask('DELETE /new')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
  })

  test('can be made again by their owner (seen on the reference; FACTS §17 15333)', async () => {
    expect((await fixture.ask('PUT /b')).status).toBe(200)
  })

  test('with anything in them are not removed (seen on S3)', async () => {
    await fixture.put('folder/', '')
    expect(await fixture.ask('DELETE /b')).toMatchObject({ status: 409, code: 'BucketNotEmpty' })
  })

  test('are listed for their authenticated owner only (spec §4, §5.6)', async () => {
    expect((await fixture.ask('GET /', { as: anonymous })).text).toContain('<Buckets></Buckets>')
    const other = { ...processUser, uid: processUser.uid + 1, superuser: false }
    expect((await fixture.ask('GET /', { as: other })).text).toContain('<Buckets></Buckets>')
  })

  test('can be sub-directories, which are not listed (spec §1.2)', async () => {
    expect((await fixture.ask('PUT /b:sub')).status).toBe(200)
    expect((await fixture.ask('PUT /b:sub/key', { body: 'x' })).status).toBe(200)
    expect((await fixture.get('sub/key')).content).toBe('x')
    expect((await fixture.ask('GET /b:sub')).text).toContain('<Name>b:sub</Name>')
    expect(keysOf((await fixture.ask('GET /b:sub')).text)).toEqual(['key'])
    expect((await fixture.ask('GET /')).text).not.toContain('sub')
    expect(await fixture.ask('PUT /missing:sub')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
  })

  test('follow the naming rules when those are on, at creation only (spec §8)', async () => {
    expect((await fixture.ask('PUT /Upper')).status).toBe(200)
    Object.assign(fixture.config, { bucketNamingRestrictions: true })
    expect(await fixture.ask('PUT /Other')).toMatchObject({ status: 400, code: 'InvalidBucketName' })
    expect((await fixture.ask('HEAD /Upper')).status).toBe(200)
  })

  test('answer an empty location and versioning (design §1)', async () => {
    expect((await fixture.ask('GET /b?location')).text).toMatch(/<LocationConstraint xmlns="[^"]+"\/>$/)
    expect((await fixture.ask('GET /b?versioning')).text).toMatch(/<VersioningConfiguration xmlns="[^"]+"\/>$/)
    expect(await fixture.ask('GET /missing?location')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
  })

  test('have tags of their own, gone with the bucket (spec §4)', async () => {
    const body = '<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>'
    expect((await fixture.ask('PUT /b?tagging', { body })).status).toBe(200)
    expect((await fixture.ask('GET /b?tagging')).text).toContain('<Key>k</Key><Value>v</Value>')
    expect((await fixture.ask('DELETE /b?tagging')).status).toBe(204)
    expect((await fixture.ask('GET /b?tagging')).text).toContain('<TagSet/>')
    await fixture.ask('PUT /b?tagging', { body })
    await fixture.ask('DELETE /b')
    await fixture.ask('PUT /b')
    expect((await fixture.ask('GET /b?tagging')).text).toContain('<TagSet/>')
    expect(await fixture.ask('GET /missing?tagging')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
  })
})

describe('listings', () => {
  beforeEach(async () => {
    for (const key of ['a-', 'a/1', 'a/2', 'b/c/3', 'd']) await fixture.put(key, key)
    mkdirSync(join(fixture.root, 'b/empty'))
    writeFileSync(join(fixture.root, 'b/foreign'), 'x')
  })

  test('have every object and folder in byte order, with size, date and ETag (spec §1.2, design §7)', async () => {
    const { text } = await fixture.ask('GET /b')
    expect(keysOf(text)).toEqual(['a-', 'a/', 'a/1', 'a/2', 'b/', 'b/c/', 'b/c/3', 'd', 'empty/', 'foreign'])
    expect(text).toMatch(
      new RegExp(
        `<Key>d</Key><LastModified>[-0-9T:.]+Z</LastModified><ETag>&quot;${md5('d')}&quot;</ETag><Size>1</Size><StorageClass>STANDARD`,
      ),
    )
    expect(text).toMatch(/<Key>a\/<\/Key><LastModified>[^<]+<\/LastModified><ETag>[^<]+<\/ETag><Size>0<\/Size>/)
    expect(text).toMatch(/<Key>foreign<\/Key><LastModified>[^<]+<\/LastModified><ETag>&quot;[0-9a-f]{32}-\d+&quot;/)
    expect(text).toContain('<IsTruncated>false</IsTruncated>')
    expect(text).not.toContain('<Owner>')
  })

  test('show the ETag that GET shows', async () => {
    const { text } = await fixture.ask('GET /b?list-type=2')
    for (const key of keysOf(text)) {
      const listed = new RegExp(`<Key>${key}</Key><LastModified>[^<]+</LastModified><ETag>&quot;(.*?)&quot;`).exec(text)
      expect((await fixture.ask(`HEAD /b/${key}`)).headers.ETag).toBe(`"${listed?.[1]}"`)
    }
  })

  test('gather folders under a delimiter (seen on S3)', async () => {
    const { text } = await fixture.ask('GET /b?delimiter=%2F')
    expect(keysOf(text)).toEqual(['a-', 'd', 'foreign'])
    expect(prefixesOf(text)).toEqual(['a/', 'b/', 'empty/'])
    expect(keysOf((await fixture.ask('GET /b?prefix=a%2F&delimiter=%2F')).text)).toEqual(['a/', 'a/1', 'a/2'])
  })

  test('go on by marker, as /<bucket>/<key> or as a key (spec §4 listing rule 2)', async () => {
    const first = (await fixture.ask('GET /b?max-keys=4')).text
    expect(element(first, 'IsTruncated')).toBe('true')
    expect(element(first, 'NextMarker')).toBe('/b/a/2')
    for (const marker of ['%2Fb%2Fa%2F2', 'a%2F2']) {
      expect(keysOf((await fixture.ask(`GET /b?marker=${marker}`)).text)[0]).toBe('b/')
    }
  })

  test('go on by continuation token until all is seen once, at any page size', async () => {
    const all = keysOf((await fixture.ask('GET /b')).text)
    for (const size of [1, 2, 3, 7]) {
      const seen: (string | undefined)[] = []
      let token = ''
      do {
        const { text } = await fixture.ask(`GET /b?list-type=2&max-keys=${size}${token}`)
        seen.push(...keysOf(text))
        const next = element(text, 'NextContinuationToken')
        token = next === undefined ? '' : `&continuation-token=${next}`
      } while (token !== '')
      expect(seen).toEqual(all)
    }
  })

  test('have owners when asked for (seen on S3), counts, and start-after (spec §4)', async () => {
    const { text } = await fixture.ask('GET /b?list-type=2&fetch-owner=true&start-after=d')
    expect(keysOf(text)).toEqual(['empty/', 'foreign'])
    expect(element(text, 'KeyCount')).toBe('2')
    expect(text).toContain(`<Owner><ID>${processUser.uid}</ID><DisplayName>${processUser.name}</DisplayName></Owner>`)
  })

  test('of no keys at all are empty and not cut (seen on the reference)', async () => {
    const { text } = await fixture.ask('GET /b?list-type=2&max-keys=0')
    expect(keysOf(text)).toEqual([])
    expect(element(text, 'IsTruncated')).toBe('false')
    expect(await fixture.ask('GET /missing?max-keys=0')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
    expect(await fixture.ask('GET /missing')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
  })
})

describe('DeleteObjects', () => {
  const remove = (keys: string[], more = '') =>
    fixture.ask('POST /b?delete', {
      body: `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}${more}</Delete>`,
    })

  test('tells each key in the order asked, with the elements of the specification (spec §4, design §1)', async () => {
    await fixture.put('a/1', 'x')
    await fixture.put('key', 'x')
    const { text } = await remove(['a/', 'missing', 'a/1', 'key'])
    const deleted = (key: string) =>
      `<Deleted><Key>${key}</Key><DeleteMarker>false</DeleteMarker><DeleteMarkerVersionId/><VersionId/></Deleted>`
    expect(text).toContain(['a/', 'missing', 'a/1', 'key'].map(deleted).join(''))
    expect(existsSync(join(fixture.root, 'b/a'))).toBe(false)
  })

  test('tells only errors when quiet, by key (spec §7.2)', async () => {
    await fixture.put('key', 'x')
    const { text, status } = await remove(['key', 'a//b'], '<Quiet>true</Quiet>')
    expect(status).toBe(200)
    expect(text).not.toContain('<Deleted>')
    expect(text).toMatch(/<Error><Key>a\/\/b<\/Key><Code>InvalidArgument<\/Code><Message>[^<]+<\/Message><\/Error>/)
  })

  test('takes keys as they are written: no numbers, no trimming (style C4)', async () => {
    await fixture.put('007', 'x')
    await fixture.put('7', 'x')
    await fixture.put(' a ', 'x')
    await fixture.put('a', 'x')
    await remove(['007', ' a '])
    expect(keysOf((await fixture.ask('GET /b')).text)).toEqual(['7', 'a'])
  })

  test('refuses too many keys, none, and what is no document (seen on S3)', async () => {
    expect(await remove(Array.from({ length: 1001 }, (_, index) => `${index}`))).toMatchObject({ code: 'MalformedXML' })
    expect(await remove([])).toMatchObject({ code: 'MalformedXML' })
    expect(await fixture.ask('POST /b?delete', { body: '<Delete><Object>' })).toMatchObject({ code: 'MalformedXML' })
  })

  test('in a missing bucket is NoSuchBucket (seen on S3)', async () => {
    const body = '<Delete><Object><Key>a</Key></Object></Delete>'
    expect(await fixture.ask('POST /missing?delete', { body })).toMatchObject({ status: 404, code: 'NoSuchBucket' })
  })
})

describe('the bucket-path cache', () => {
  test('lets a removed bucket answer like an empty one until it expires (spec §8, FACTS §14)', async () => {
    Object.assign(fixture.config, { bucketPathCacheTimeoutMs: 300 })
    expect((await fixture.ask('HEAD /b')).status).toBe(200)
    rmdirSync(join(fixture.root, 'b'))
    expect((await fixture.ask('HEAD /b')).status).toBe(200)
    expect(await fixture.ask('GET /b')).toMatchObject({ status: 200, text: expect.not.stringContaining('<Contents>') })
    expect((await fixture.ask('DELETE /b/key')).status).toBe(204)
    const body = '<Delete><Object><Key>a</Key></Object></Delete>'
    expect((await fixture.ask('POST /b?delete', { body })).text).toContain('<Deleted><Key>a</Key>')
    expect(await fixture.ask('PUT /b/key', { body: 'x' })).toMatchObject({ status: 404, code: 'NoSuchBucket' })
    expect(await fixture.ask('DELETE /b')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
    await new Promise((resolve) => setTimeout(resolve, 350))
    expect(await fixture.ask('HEAD /b')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
    expect(await fixture.ask('GET /b')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
  })

  test('keeps no bucket that was not there, and nothing at all when off (spec §8)', async () => {
    Object.assign(fixture.config, { bucketPathCacheTimeoutMs: 60_000 })
    expect((await fixture.ask('HEAD /later')).status).toBe(404)
    mkdirSync(join(fixture.root, 'later'))
    expect((await fixture.ask('HEAD /later')).status).toBe(200)
    Object.assign(fixture.config, { bucketPathCacheTimeoutMs: 0 })
    rmdirSync(join(fixture.root, 'later'))
    expect((await fixture.ask('HEAD /later')).status).toBe(404)
  })
})
