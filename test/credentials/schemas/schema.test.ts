import { describe, expect, test } from 'vitest'
import {
  compareVersions,
  CredentialSchemaInput,
  guidOf,
  longIdOf,
  nameUuid,
  SchemaVersion,
} from '../../../src/credentials/schemas/schema.ts'

const name = {
  author: `did:prism:${'4a'.repeat(32)}`,
  id: 'f2bfbf78-8bd6-4cc6-8b39-b3a25e01e8ea',
  version: '1.0.0',
}

const input = {
  name: 'driving-license',
  version: '1.0.0',
  type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
  schema: { type: 'object' },
  author: name.author,
}

describe('the names of a schema', () => {
  test('the long id is author, id and version', () => {
    expect(longIdOf(name)).toBe(
      `did:prism:${'4a'.repeat(32)}/f2bfbf78-8bd6-4cc6-8b39-b3a25e01e8ea?version=1.0.0`,
    )
  })

  // Made by running `UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8))` on OpenJDK 17.
  test.each([
    ['', 'd41d8cd9-8f00-3204-a980-0998ecf8427e'],
    ['hello', '5d41402a-bc4b-3a76-b971-9d911017c592'],
    ['Zoë 😀', '4900cd0a-40a1-32b5-9604-63088a90a541'],
    [longIdOf(name), '8e2f8040-f17e-3c11-9e36-481aa20b1d47'],
  ])('the name-based UUID of «%s» is the one that Java makes', (text, uuid) =>
    expect(nameUuid(text)).toBe(uuid),
  )

  test('every part of the name makes another guid', () => {
    const guids = [
      name,
      { ...name, version: '1.0.1' },
      { ...name, id: '00000000-0000-4000-8000-000000000000' },
      { ...name, author: 'did:prism:0' },
    ].map(guidOf)
    expect(new Set(guids).size).toBe(4)
    expect(guids[0]).toBe('8e2f8040-f17e-3c11-9e36-481aa20b1d47')
    for (const guid of guids)
      expect(guid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-3[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('a version', () => {
  test.each([
    '0.0.0',
    '1.0.0',
    '10.20.30',
    '1.0.0-alpha.1',
    '1.0.0-0.3.7',
    '1.0.0+20130313144700',
    '1.0.0-beta+exp.sha-5114f85',
  ])('%s is one', (version) => {
    expect(SchemaVersion.parse(version)).toBe(version)
  })
  test.each([
    '',
    '1',
    '1.0',
    'v1.0.0',
    '=1.0.0',
    ' 1.0.0',
    '1.0.0 ',
    '01.0.0',
    '1.0.0-01',
    '1.0.0-',
    '1.0.0+',
    '1.0.0-a..b',
    '1.0.0.0',
    '99999999999999999999.0.0',
  ])('«%s» is none', (version) => expect(SchemaVersion.safeParse(version).success).toBe(false))
  test('1.10.0 is greater than 1.9.0, and a release than its candidate', () => {
    expect(compareVersions('1.10.0', '1.9.0')).toBeGreaterThan(0)
    expect(compareVersions('1.0.0-rc.1', '1.0.0')).toBeLessThan(0)
    expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0)
  })
})

describe('what an author sends', () => {
  test('may leave out description and tags, or send null', () => {
    expect(CredentialSchemaInput.parse(input).tags).toEqual([])
    expect(CredentialSchemaInput.parse({ ...input, description: null, tags: null, unknown: 1 })).toEqual({
      ...input,
      description: null,
      tags: [],
    })
  })
  test.each([
    ['name', ''],
    ['name', undefined],
    ['version', '1'],
    ['description', ''],
    ['schema', 'text'],
    ['schema', []],
    ['schema', undefined],
    ['type', undefined],
    ['tags', 'one'],
    ['tags', [1]],
    ['author', 'me'],
    ['author', undefined],
  ])('is refused with %s %j, and the field is named', (field, value) => {
    const result = CredentialSchemaInput.safeParse({ ...input, [field]: value })
    expect(result.error?.issues.map((issue) => issue.path[0])).toEqual([field])
  })
})
