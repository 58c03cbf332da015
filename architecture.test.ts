import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

/**
 * The layer rules of ARCHITECTURE.md as a table: which folder of `gateway/` may import which. A folder may always
 * import itself. `types` may be imported as types only.
 */
const layers: Record<string, { uses: string[]; types?: string[] }> = {
  s3: { uses: [], types: ['namespace'] },
  config: { uses: [] },
  identity: { uses: ['s3'], types: ['config'] },
  namespace: { uses: ['s3'], types: ['identity', 'config'] },
  embedded: { uses: ['s3'] },
  metadata: { uses: ['s3', 'embedded'], types: ['namespace'] },
  jobs: { uses: ['s3', 'embedded'] },
  objects: { uses: ['s3'], types: ['namespace', 'metadata', 'identity', 'config'] },
  buckets: { uses: ['s3'], types: ['namespace', 'metadata', 'identity', 'config'] },
  uploads: { uses: ['s3'], types: ['objects', 'namespace', 'metadata', 'jobs', 'identity', 'config'] },
  operations: { uses: ['s3'], types: ['objects', 'buckets', 'uploads', 'namespace', 'metadata', 'identity', 'config'] },
  flow: { uses: ['s3'], types: ['config'] },
  telemetry: { uses: [], types: ['config', 'identity', 's3'] },
  server: {
    uses: ['s3', 'operations', 'flow', 'telemetry'],
    types: ['config', 'identity', 'namespace', 'metadata', 'objects', 'buckets', 'uploads'],
  },
}

/** Packages that only one place may know, so that it can be replaced there. */
const packages: Record<string, RegExp> = {
  koffi: /^gateway\/namespace\/libc[^/]*\.ts$/,
  lmdb: /^gateway\/embedded\/[^/]*\.ts$/,
  'fast-xml-parser': /^gateway\/s3\/xml\/parse\.ts$/,
  pino: /^gateway\/telemetry\//,
  'node:http': /^gateway\/(server|process|telemetry)\//,
  'node:https': /^gateway\/(server|process)\//,
  'node:cluster': /^gateway\/(process|main)/,
}

interface Import {
  file: string
  target: string
  typeOnly: boolean
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sources(path)
    return /\.ts$/.test(path) && !/\.(test|contract|fixture)\.ts$/.test(path) ? [path] : []
  })
}

function imports(file: string): Import[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^\s*(import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gm)].map(
    (match) => {
      const target = match[3] ?? match[4] ?? ''
      return {
        file,
        target: target.startsWith('.') ? relative('.', join(dirname(file), target)) : target,
        typeOnly: match[2] !== undefined,
      }
    },
  )
}

const all = sources('gateway').flatMap(imports)

function layerOf(path: string): string | undefined {
  return /^gateway\/([^/]+)\//.exec(path)?.[1]
}

describe('the layers of the gateway', () => {
  for (const [layer, { uses, types = [] }] of Object.entries(layers)) {
    it(`${layer}/ imports only what its row in the table allows`, () => {
      const wrong = all
        .filter(({ file }) => layerOf(file) === layer)
        .filter(({ target, typeOnly }) => {
          const used = layerOf(target)
          if (used === undefined || used === layer) return false
          return !uses.includes(used) && !(typeOnly && types.includes(used))
        })
      expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
    })
  }

  it('every folder of gateway/ has a row in the table, but for the composition of the process', () => {
    const folders = readdirSync('gateway', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const known = [...Object.keys(layers), 'process']
    expect(folders.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([])
  })

  for (const [name, place] of Object.entries(packages)) {
    it(`only its own place imports ${name}`, () => {
      const wrong = all.filter(({ file, target }) => target === name && !place.test(file))
      expect(wrong.map(({ file }) => file)).toEqual([])
    })
  }

  it('the gateway does not know Kubernetes', () => {
    expect(all.filter(({ target }) => target.startsWith('@kubernetes/')).map(({ file }) => file)).toEqual([])
  })
})
