import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../src/foundation/config/settings.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { readClaimNames, readClaims } from '../../cli/input/claims.ts'
import { readSeconds } from '../../cli/input/time.ts'
import { readObject } from '../../cli/input/files.ts'
import { schemaUrl } from '../../cli/input/registry.ts'
import { bin } from './_cli.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'input-'))
  writeFileSync(join(folder, 'claims.json'), '{"name": "Alice", "age": 41}')
  writeFileSync(join(folder, 'list.json'), '["Alice"]')
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('claims', () => {
  test.each([
    ['name=Alice', { name: 'Alice' }],
    ['age:=42', { age: 42 }],
    ['age=42', { age: '42' }],
    ['adult:=true', { adult: true }],
    ['none:=null', { none: null }],
    ['tags:=["a","b"]', { tags: ['a', 'b'] }],
    ['formula=a=b', { formula: 'a=b' }],
    ['formula=a:=b', { formula: 'a:=b' }],
    ['url=https://a.example?b=c', { url: 'https://a.example?b=c' }],
    ['empty=', { empty: '' }],
    ['with:colon=x', { 'with:colon': 'x' }],
    ['given name=Ålice', { 'given name': 'Ålice' }],
  ])('%j is %j', (claim, expected) => {
    expect(readClaims({ claim: [claim] })).toEqual(expected)
  })

  test.each(['name', '=Alice', ':=42', 'age:=', 'age:=fortytwo', "name:='Alice'"])(
    '%j is not a claim',
    (claim) => {
      expect(() => readClaims({ claim: [claim] })).toThrow(UsageError)
    },
  )

  test('are read from a file and overridden by --claim', () => {
    expect(readClaims({ claims: `@${join(folder, 'claims.json')}`, claim: ['age:=42'] })).toEqual({
      name: 'Alice',
      age: 42,
    })
  })

  test('accept values with explicit types', () => {
    expect(readClaims({ claims: '{"name": "Alice"}' })).toEqual({ name: 'Alice' })
  })

  test('reject duplicates, no claims, lists and missing files', () => {
    expect(() => readClaims({ claim: ['a=1', 'a=2'] })).toThrow('"a" twice')
    expect(() => readClaims({})).toThrow('There are no claims')
    expect(() => readClaims({ claims: `@${join(folder, 'list.json')}` })).toThrow('not a JSON object')
    expect(() => readClaims({ claims: `@${join(folder, 'none.json')}` })).toThrow(
      'there is no such file or folder',
    )
    expect(() => readClaims({ claims: '{"name": ' })).toThrow('not JSON')
  })

  test('can be named like members of Object.prototype', () => {
    const claims = readClaims({ claim: ['constructor=x', '__proto__=y'] })
    expect(JSON.stringify(claims)).toBe('{"constructor":"x","__proto__":"y"}')
  })
})

describe('names of claims', () => {
  test.each([
    [['name'], { name: {} }],
    [['name', 'name'], { name: {} }],
    [
      ['address.city', 'address.street.name', 'age'],
      { address: { city: {}, street: { name: {} } }, age: {} },
    ],
    [['zip\\.code.new', 'a b'], { 'zip.code': { new: {} }, 'a b': {} }],
    [['__proto__.x'], JSON.parse('{"__proto__":{"x":{}}}')],
  ])('%j', (paths, expected) => {
    expect(JSON.stringify(readClaimNames(paths))).toBe(JSON.stringify(expected))
  })

  test.each([[['']], [['.']], [['a.']], [['a..b']], [['a', 'a.b']], [['a.b', 'a']]])('reject %j', (paths) => {
    expect(() => readClaimNames(paths)).toThrow(UsageError)
  })
})

describe('a duration', () => {
  test.each([
    ['3600', 3_600],
    ['45s', 45],
    ['90m', 5_400],
    ['12h', 43_200],
    ['365d', 31_536_000],
  ])('%s is %i seconds', (text, seconds) => {
    expect(readSeconds('validity', text)).toBe(seconds)
  })

  test.each(['0', '-1', '1.5h', '5 m', 'm', '', '1w', '1e3'])('rejects %j', (text) => {
    expect(() => readSeconds('validity', text)).toThrow('--validity')
  })
})

test('a GUID refers to a schema of the daemon, a URL to itself', () => {
  const guid = 'c101941e-a15a-32bc-abd1-b77db1d0a4a1'
  expect(schemaUrl(guid, 'http://127.0.0.1:8085')).toBe(
    `http://127.0.0.1:8085/schema-registry/schemas/${guid}`,
  )
  expect(schemaUrl('https://schemas.example/employee', 'http://127.0.0.1:8085')).toBe(
    'https://schemas.example/employee',
  )
})

test('standard input is read to its end from a slow writer', async () => {
  const text = 'a'.repeat(100_000)
  const slowly = `(sleep 1; printf ${text}; sleep 0.2; printf '%%b') | node ${bin} decode -`
  const { exitCode, stderr } = await execa('sh', ['-c', slowly], {
    reject: false,
    env: { AGENT_CONFIG_DIR: folder },
  })
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringContaining('The text is not recognised'),
  })
})

test.each([
  [['event', 'show', ''], 'An argument is empty: id of the event.'],
  [['trace', ''], 'An argument is empty: a thread, a DID, or the id'],
])('%j is a usage error', async (args, reason) => {
  const { exitCode, stderr } = await execa(process.execPath, [bin, ...args], {
    reject: false,
    env: { AGENT_CONFIG_DIR: folder },
  })
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(reason) })
})

test('a byte order mark before the content of a file is dropped', () => {
  const path = join(folder, 'marked.json')
  writeFileSync(path, '\ufeff{"age": 42}')
  expect(readClaims({ claims: `@${path}` })).toEqual({ age: 42 })
  mkdirSync(join(folder, 'settings'))
  writeFileSync(join(folder, 'settings', 'marked.json'), '\ufeff{"AGENT_HTTP_PORT": 1}')
  expect(readSettings(folder, 'marked')).toEqual({ AGENT_HTTP_PORT: '1' })
})

test('errors quote malformed JSON from the command line, never from a file', () => {
  const path = join(folder, 'headers.json')
  writeFileSync(path, '{"authorization": Bearer abcdefgh}')
  expect(() => readObject('headers', `@${path}`)).toThrow(/^--headers is not JSON: (?!.*(?:Bearer|abcd))/)
  expect(() => readObject('claims', '{"age": 4l}')).toThrow(/--claims is not JSON: .*l/)
})
