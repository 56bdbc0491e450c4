/** What the package needs, and that an older Node.js is refused in one sentence. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { Lock, Manifest, read, root } from './_package.ts'

const manifest = Manifest.parse(read('package.json'))
const lock = Lock.parse(read('package-lock.json')).packages

test('at run time, two packages are needed, and one is optional', () => {
  expect(Object.keys(manifest.dependencies)).toEqual(['better-sqlite3', 'secp256k1'])
  expect(Object.keys(manifest.optionalDependencies)).toEqual(['@napi-rs/keyring'])
  const needed = Object.entries(lock).filter(
    ([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional,
  )
  expect(needed.length).toBeLessThan(20)
})

describe('SQLite', () => {
  const compiled = z
    .object({ packages: z.record(z.string(), z.looseObject({ version: z.string().optional() })) })
    .parse(read('bin/sqlite-node20/package-lock.json')).packages

  test('npm ci does not compile the package that carries binaries, and Node.js 20 gets no warning about it', () => {
    const sqlite = lock['node_modules/better-sqlite3']
    // `npm install --ignore-scripts` loses this: run `node build/lock.js`.
    expect(sqlite).toMatchObject({ gypfile: false })
    expect(sqlite).not.toHaveProperty('engines')
    const { gypfile } = read('node_modules/better-sqlite3/package.json') as { gypfile: boolean }
    expect(gypfile).toBe(false)
  })

  test('the release for Node.js 20 is pinned', () => {
    expect(compiled['node_modules/better-sqlite3']!.version).toMatch(/^12\./)
    expect(read('bin/sqlite-node20/package.json')).toMatchObject({
      dependencies: { 'better-sqlite3': compiled['node_modules/better-sqlite3']!.version },
    })
  })
})

describe('an older Node.js', () => {
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '18.20.4' }); Object.defineProperty(process, 'version', { value: 'v18.20.4' })`
  const run = (file: string) =>
    spawnSync(process.execPath, ['--eval', `${pretend}; require('${join(root, file)}')`], {
      encoding: 'utf8',
    })

  test.each(['bin/agent.cjs', 'bin/install.cjs'])('%s refuses it in one sentence', (file) => {
    const { status, stdout, stderr } = run(file)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toBe(
      'identity-agent needs Node.js 20.19 or later, and this is v18.20.4: install a newer one, such as Node.js 24.\n',
    )
  })

  test('the sentence names the version of package.json', () => {
    expect(manifest.engines.node).toBe('>=20.19')
  })

  test('nothing is loaded before the check', () => {
    for (const file of ['bin/agent.cjs', 'bin/install.cjs']) {
      const [first, second] = readFileSync(join(root, file), 'utf8').matchAll(/require\('([^']+)'\)/g)
      expect(first![1]).toBe('./node-version.cjs')
      expect(second!.index).toBeGreaterThan(readFileSync(join(root, file), 'utf8').indexOf('findOldNode()'))
    }
    expect(readFileSync(join(root, 'bin/node-version.cjs'), 'utf8')).not.toContain('require(')
  })
})
