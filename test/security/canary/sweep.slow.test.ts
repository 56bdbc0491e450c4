/** Tests of the search for secrets. */
import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { base58btc } from 'multiformats/bases/base58'
import { describe, expect, test } from 'vitest'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { createSweep } from './_sweep.ts'

describe('a key', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
  const { d, ...publicJwk } = createPrivateKey(pem).export({ format: 'jwk' })
  const key = Buffer.from(d!, 'base64url')
  const sweep = createSweep([{ name: 'the key', value: key }])

  const forms: Record<string, Uint8Array | string> = {
    raw: key,
    hexadecimal: key.toString('hex'),
    'in capitals': key.toString('hex').toUpperCase(),
    'with colons': key.toString('hex').replaceAll(/(..)(?!$)/g, '$1:'),
    base64: key.toString('base64'),
    base64url: key.toString('base64url'),
    JWK: JSON.stringify({ ...publicJwk, d }),
    'JWK in base64url': Buffer.from(JSON.stringify({ ...publicJwk, d })).toString('base64url'),
    PEM: pem,
    'PEM inside of JSON': JSON.stringify({ pem }),
    'PEM in lines of other length': pem.replaceAll(/[A-Za-z0-9+/]{10}/g, '$&\r\n'),
    DER: privateKey.export({ format: 'der', type: 'pkcs8' }),
    multibase: base58btc.encode(key),
    'multibase with its codec': base58btc.encode(Buffer.concat([Uint8Array.of(0x80, 0x26), key])),
    'a Buffer in JSON': JSON.stringify(key),
    'a Uint8Array in JSON': JSON.stringify(new Uint8Array(key)),
    'what console.log shows of a Buffer': inspect(key),
    'what console.log shows of a Uint8Array': inspect(new Uint8Array(key)),
    'the first half': key.subarray(0, 16),
    'the last half in hexadecimal': key.toString('hex').slice(32),
    'cut in the middle': key.toString('base64url').slice(9, 30),
  }
  test.each(Object.keys(forms))('is found: %s', (form) => {
    const text = Buffer.from(forms[form] as Uint8Array)
    for (const before of [0, 1, 2, 3, 1_000]) {
      const place = Buffer.concat([randomBytes(before), text, randomBytes(100)])
      expect(sweep(place)).toEqual(['the key'])
    }
  })

  test('is not found in other data', () => {
    expect(sweep(randomBytes(1_000_000))).toEqual([])
    expect(sweep(JSON.stringify(publicJwk))).toEqual([])
    expect(sweep(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }))).toEqual(
      [],
    )
  })
})

describe('a text', () => {
  const words = 'abandon ability able about above absent absorb abstract absurd abuse access "accident"'
  const sweep = createSweep([{ name: 'the words', value: words }])

  test.each([
    words,
    words.replaceAll(' ', '\n'),
    words.replaceAll(' ', '  '),
    JSON.stringify({ words }),
    encodeURIComponent(words),
    Buffer.from(words).toString('base64'),
    Buffer.from(`x${words}`).toString('base64url'),
    Buffer.from(words).toString('hex'),
    Buffer.from(words, 'utf16le'),
    words.slice(10, 40),
  ])('is found: %s', (form) => {
    expect(sweep(Buffer.concat([randomBytes(50), Buffer.from(form as Uint8Array), randomBytes(50)]))).toEqual(
      ['the words'],
    )
  })
})

test('all found secrets are named, in order', () => {
  const canaries = ['b', 'a', 'c'].map((name) => ({ name, value: randomBytes(32) }))
  const sweep = createSweep(canaries)
  expect(sweep(Buffer.concat(canaries.map(({ value }) => value)))).toEqual(['a', 'b', 'c'])
})

test('a secret that was deleted from a database is found in its log and in its free pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  try {
    const path = join(folder, 'a.db')
    const sweep = createSweep([{ name: 'the secret', value: 'a secret of this test alone' }])
    const database = openSqlite(path)
    database.exec('create table t (x text)')
    database.prepare('insert into t values (?)').run('a secret of this test alone')
    database.exec('delete from t')
    expect(sweep(readFileSync(`${path}-wal`))).toEqual(['the secret'])
    database.pragma('wal_checkpoint(truncate)')
    expect(sweep(readFileSync(path))).toEqual(['the secret'])
    database.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
