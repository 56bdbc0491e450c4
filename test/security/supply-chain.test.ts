/**
 * Dependencies: only from the npm registry, with pinned digests, allowed licences and allowed install
 * scripts.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'

const Entry = z.object({
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  license: z.string().optional(),
  link: z.boolean().optional(),
  dev: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
})
const Lock = z.object({ lockfileVersion: z.number(), packages: z.record(z.string(), Entry) })
const Package = z.object({
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
  allowScripts: z.record(z.string(), z.boolean()),
})

const readText = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const read = (name: string): unknown => JSON.parse(readText(name))
const manifest = Package.parse(read('package.json'))
/** The second one is of the SQLite that is compiled for Node.js 20. */
const locks = ['package-lock.json', 'bin/sqlite-node20/package-lock.json']
/** All packages except the project itself. */
const entries = locks.flatMap((name) =>
  Object.entries(Lock.parse(read(name)).packages).filter(([path]) => path !== ''),
)
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Licences allowed in the product. SQLite itself is in the public domain. */
const free = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Public Domain',
  'Unlicense',
  'Zlib',
]
/** Licences allowed in build and test tools only. */
const forTools = [...free, 'MPL-2.0', 'PSF-2.0', 'Python-2.0']
/** Packages without an SPDX licence, and the licence in their text or repository. */
const inTheirWords: Readonly<Record<string, string>> = {
  'qrcode-terminal': 'Apache-2.0',
  // https://github.com/Sphereon-Opensource/mdoc-cbor-crypto-multiplatform, LICENSE.md
  '@sphereon/kmp-mdoc-core': 'Apache-2.0',
  '@digitalbazaar/credentials-context': 'BSD-3-Clause',
  'passport-strategy': 'MIT',
  pause: 'MIT',
  'prelude-ls': 'MIT',
}

/** Evaluates a licence expression with AND and OR. */
function isAllowed(expression: string, allowed: readonly string[]): boolean {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => allowed.includes(licence)))
}

/** Packages with a licence that is not allowed. */
function unlicensed(packages: typeof entries): string[] {
  return packages
    .map(([path, { license, dev }]) => ({
      name: nameOf(path),
      licence: inTheirWords[nameOf(path)] ?? license ?? '(none)',
      dev,
    }))
    .filter(({ licence, dev }) => !isAllowed(licence, dev ? forTools : free))
    .map(({ name, licence }) => `${name}: ${licence}`)
}

/**
 * The packages in the bundles, `name version`, which build/notices.js lists with their licences. They are
 * devDependencies, and part of the product.
 */
function bundled(): string[] {
  const headings = readText('dist/LICENSES.txt').matchAll(/^-{80}\n(\S+ \S+) \(.+\)\n-{80}$/gm)
  return [...headings].map(([, package_]) => package_!)
}

/** Packages from elsewhere, or without a digest. */
function unvouched(packages: typeof entries): string[] {
  return packages
    .filter(([, { resolved, integrity, link }]) => {
      // Without a URL, npm uses the configured registry, and the digest is verified.
      const isFromRegistry =
        resolved === undefined || new URL(resolved).origin === 'https://registry.npmjs.org'
      return !isFromRegistry || link === true || !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')
    })
    .map(([path]) => path)
}

test('every package has an allowed licence', () => {
  expect(unlicensed(entries)).toEqual([])
  const names = entries.map(([path]) => nameOf(path))
  expect(Object.keys(inTheirWords).filter((name) => !names.includes(name))).toEqual([])
})

test('every bundled package has a licence that is allowed in the product', () => {
  const names = bundled()
  expect(names.length).toBeGreaterThan(100)
  const found = entries
    .filter(([path, { version }]) => names.includes(`${nameOf(path)} ${version}`))
    .map(([path, entry]): (typeof entries)[number] => [path, { ...entry, dev: false }])
  expect(new Set(found.map(([path, { version }]) => `${nameOf(path)} ${version}`))).toEqual(new Set(names))
  expect(unlicensed(found)).toEqual([])
})

test('every package comes from the npm registry with a SHA-512 digest', () => {
  expect(entries.length).toBeGreaterThan(100)
  expect(unvouched(entries)).toEqual([])
})

test('every dependency is pinned to one release', () => {
  const wanted = [manifest.dependencies, manifest.optionalDependencies, manifest.devDependencies].flatMap(
    (each) => Object.entries(each),
  )
  expect(wanted.filter(([, version]) => !/^\d+\.\d+\.\d+(-beta\.\d+)?$/.test(version))).toEqual([])
})

test('only the listed packages have install scripts, and few may run them', () => {
  const wanting = new Set(
    entries.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path)),
  )
  const { allowScripts } = manifest
  expect([...wanting].filter((name) => !Object.hasOwn(allowScripts, name))).toEqual([])
  // Release 13 has no script; release 12, which bin/sqlite.cjs compiles, may run its own in its folder.
  expect(allowScripts['better-sqlite3']).toBe(false)
  // Native code, compiled or downloaded on installation, and the code of a bundler. A new name here needs a
  // decision.
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['secp256k1', 'esbuild'])
})

test('these tests detect violations', () => {
  const good = { version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==`, license: 'MIT' }
  const bad: typeof entries = [
    ['node_modules/elsewhere', { ...good, resolved: 'https://example.com/elsewhere.tgz' }],
    ['node_modules/like-it', { ...good, resolved: 'https://registry.npmjs.org.example.com/like-it.tgz' }],
    ['node_modules/plain', { ...good, resolved: 'http://registry.npmjs.org/plain.tgz' }],
    ['node_modules/git', { ...good, resolved: 'git+ssh://git@example.com/git.git#1' }],
    ['node_modules/linked', { ...good, link: true }],
    ['node_modules/weak', { ...good, integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }],
    ['node_modules/bare', { version: '1.0.0', license: 'MIT' }],
  ]
  expect(unvouched(bad)).toEqual(bad.map(([path]) => path))
  const licences: [licence: string | undefined, dev: boolean, isFine: boolean][] = [
    ['MIT', false, true],
    ['(GPL-3.0 OR MIT)', false, true],
    ['(GPL-3.0 AND MIT)', false, false],
    ['MPL-2.0', true, true],
    ['MPL-2.0', false, false],
    ['UNLICENSED', true, false],
    [undefined, true, false],
  ]
  for (const [license, dev, isFine] of licences)
    expect([license, dev, unlicensed([['node_modules/x', { license, dev }]]).length === 0]).toEqual([
      license,
      dev,
      isFine,
    ])
})
