/** Type metadata that extend others: what a wallet takes of each, and what it refuses. */
import { expect, test } from 'vitest'
import { integrityOf } from '../../../src/credentials/codecs/sd-jwt/type-metadata.ts'
import { readTypeChain } from '../../../src/credentials/display/type-chain.ts'

type Type = { vct: string; extends?: string; [member: string]: unknown }

/** Reads a chain of types, of which each that extends another has the digest of it. */
async function read(types: readonly Type[], first = types[0]!.vct) {
  const documents = new Map<string, Buffer>()
  for (const type of types.toReversed()) {
    const parent = type.extends === undefined ? undefined : documents.get(type.extends)
    const digest =
      parent && !('extends#integrity' in type) ? { 'extends#integrity': integrityOf(parent) } : {}
    documents.set(type.vct, Buffer.from(JSON.stringify({ ...type, ...digest })))
  }
  const reads: string[] = []
  const type = await readTypeChain(
    { vct: first, integrity: integrityOf(documents.get(first)!) },
    async (url) => {
      reads.push(url)
      return documents.get(url)!
    },
  )
  return { type, reads }
}

const url = (index: number) => `https://types.example/${index}`
const chainOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    vct: url(index),
    ...(index + 1 < count && { extends: url(index + 1) }),
  }))

test('the display of the child replaces that of the parent, and its claims win', async () => {
  const { type, reads } = await read([
    {
      vct: 'a',
      extends: 'b',
      display: [{ locale: 'de', name: 'Kind' }],
      claims: [{ path: ['x'], sd: 'always' }],
    },
    {
      vct: 'b',
      display: [{ locale: 'en', name: 'Parent' }],
      claims: [
        { path: ['y'], mandatory: true },
        { path: ['x'], sd: 'allowed', mandatory: true },
      ],
    },
  ])
  expect(reads).toEqual(['a', 'b'])
  expect(type).toMatchObject({ vct: 'a', display: [{ name: 'Kind' }] })
  expect(type.claims).toEqual([
    { path: ['x'], sd: 'always', mandatory: true },
    { path: ['y'], mandatory: true },
  ])
})

test('five types extend each other', async () => {
  expect((await read(chainOf(5))).reads).toHaveLength(5)
})

test.each<[string, readonly Type[], string]>([
  ['six types that extend each other', chainOf(6), 'extend each other more than 5 times'],
  [
    'a type that extends itself',
    [{ vct: 'a', extends: 'a', 'extends#integrity': 'sha256-x' }],
    'extend themselves',
  ],
  ['a type without the digest of its parent', [{ vct: 'a', extends: 'b' }], 'without the digest'],
  [
    'another parent',
    [{ vct: 'a', extends: 'b', 'extends#integrity': integrityOf(Buffer.from('{}')) }, { vct: 'b' }],
    'is not the document that its integrity names',
  ],
  [
    'a claim that is mandatory no more',
    [
      { vct: 'a', extends: 'b', claims: [{ path: ['x'], mandatory: false }] },
      { vct: 'b', claims: [{ path: ['x'], mandatory: true }] },
    ],
    'loosen the rules for the claim x',
  ],
  [
    'a claim that may be hidden now',
    [
      { vct: 'a', extends: 'b', claims: [{ path: ['x'], sd: 'allowed' }] },
      { vct: 'b', claims: [{ path: ['x'], sd: 'never' }] },
    ],
    'loosen the rules for the claim x',
  ],
])('%s: refused', async (_, types, reason) => {
  await expect(read(types)).rejects.toThrow(reason)
})
