import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fromBase64, toBase64url, toHex } from '../../../src/foundation/bytes.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { embeddedState, parsePrismDid, toLongForm, toShortForm } from '../../../src/did/prism/did.ts'
import { encodeOperation } from '../../../src/did/prism/operations.ts'
import { createBytes, key, masterKey, suffixOf } from './_make.ts'

const { longForms } = JSON.parse(
  readFileSync(new URL('../../../fixtures/did-prism/worked.json', import.meta.url), 'utf8'),
) as {
  longForms: { did: string }[]
}
const did = longForms[0]!.did
const [, , suffix, state] = did.split(':') as [string, string, string, string]
const isInvalid = (error: unknown) =>
  error instanceof Problem && error.type === 'error:DIDResolution:invalidDid'

describe('parsing', () => {
  test.each(longForms)('$did has its suffix and the bytes of its operation', ({ did: longForm }) => {
    const { suffix: parsed, operation } = parsePrismDid(longForm)
    expect(`${toShortForm(parsed)}:${toBase64url(operation!)}`).toBe(longForm)
    expect(toLongForm(operation!)).toBe(longForm)
  })

  test('a short form has no operation', () => {
    expect(parsePrismDid(`did:prism:${suffix}`)).toEqual({ suffix })
  })

  test('a DID with fifty keys and fifty long services still parses', () => {
    const bytes = createBytes({
      publicKeys: Array.from({ length: 50 }, (_, i) => ({ ...masterKey, id: `${i}`.padEnd(50, 'x') })),
      services: Array.from({ length: 50 }, (_, i) => ({
        id: `${i}`.padEnd(50, 'x'),
        type: 'x'.repeat(100),
        serviceEndpoint: `https://a.example/${'x'.repeat(282)}`,
      })),
    })
    expect(toHex(parsePrismDid(toLongForm(bytes)).operation!)).toBe(toHex(bytes))
  })

  test.each([
    ['a turned bit in the suffix', `did:prism:${suffix.slice(0, -1)}c:${state}`],
    ['a turned bit in the state', `did:prism:${suffix}:${state.replace('J', 'K')}`],
    ['a suffix in capitals', `did:prism:${suffix.toUpperCase()}:${state}`],
    ['a suffix of 63 digits', `did:prism:${suffix.slice(1)}`],
    ['a padded state', `${did}=`],
    ['a state of the standard alphabet', did.replace('-', '+')],
    ['an empty state', `did:prism:${suffix}:`],
    ['a third part', `${did}:${state}`],
    ['another method', did.replace('prism', 'PRISM')],
    ['a fragment', `${did}#master0`],
    ['a line break', `${did}\n`],
    ['a query', `did:prism:${suffix}?versionId=1`],
    ['a text without end', `did:prism:${suffix}:${'A'.repeat(60_000)}`],
  ])('%s is refused', (_name, text) => {
    expect(() => parsePrismDid(text)).toThrow(expect.toSatisfy(isInvalid))
  })

  test('another encoding of the same state is refused', () => {
    // Two keys make a state whose last character has unused bits.
    const longForm = [
      createBytes({ contexts: ['a'] }),
      createBytes({ contexts: ['aa'] }),
      createBytes({ contexts: ['aaa'] }),
    ]
      .map(toLongForm)
      .find((text) => /[AEIMQUYcgkosw048]$/.test(text))!
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const twin = longForm.slice(0, -1) + alphabet[alphabet.indexOf(longForm.at(-1)!) + 1]!
    expect(toHex(fromBase64(twin.split(':')[3]!))).toBe(toHex(fromBase64(longForm.split(':')[3]!)))
    expect(() => parsePrismDid(twin)).toThrow(expect.toSatisfy(isInvalid))
    expect(parsePrismDid(longForm).operation).toBeDefined()
  })
})

describe('the state inside a long form', () => {
  test('is that of the create operation', () => {
    expect(embeddedState(toLongForm(createBytes()), createBytes())).toMatchObject({
      suffix: suffixOf(),
      deactivated: false,
    })
  })

  test('that breaks a rule is an invalid DID, with the reason', () => {
    const bytes = createBytes({ publicKeys: [key('a', 'authentication')] })
    expect(() => embeddedState(toLongForm(bytes), bytes)).toThrow(expect.toSatisfy(isInvalid))
    expect(() => embeddedState(toLongForm(bytes), bytes)).toThrow(/no master key/)
    const other = encodeOperation({ operation: 'deactivate', suffix, previousHash: suffix })
    expect(() => embeddedState(toLongForm(other), other)).toThrow(expect.toSatisfy(isInvalid))
  })
})
