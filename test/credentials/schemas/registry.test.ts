import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { jsonSchemaType } from '../../../src/credentials/schemas/schema-types.ts'
import {
  type Authors,
  findLatestSchema,
  findSchema,
  getSchema,
  listSchemas,
  publishSchema,
  updateSchema,
} from '../../../src/credentials/schemas/registry.ts'
import { type CredentialSchemaInput, guidOf } from '../../../src/credentials/schemas/schema.ts'
import { type AgentDb, openAgentDb } from '../../../src/foundation/storage/database.ts'
import { addWallets } from '../../support/wallet-db.ts'

const acme = `did:prism:${'ac'.repeat(32)}`
const bank = `did:prism:${'ba'.repeat(32)}`
const page = { offset: 0, limit: 100 }

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
}
const input = (change: Partial<CredentialSchemaInput> = {}): CredentialSchemaInput => ({
  name: 'licence',
  version: '1.0.0',
  description: 'Driving licence',
  type: jsonSchemaType,
  schema,
  tags: ['driving', 'id'],
  author: acme,
  ...change,
})
const resolve = () => Promise.reject(new Error('unexpected resolution'))
const owner: Authors = { owns: async () => true, resolve }
const stranger: Authors = { owns: async () => false, resolve }

let folder: string
let db: AgentDb

const publish = (change: Partial<CredentialSchemaInput> = {}, walletId = 'w1') =>
  publishSchema(db, walletId, input(change), owner)
const update = (id: string, change: Partial<CredentialSchemaInput>, walletId = 'w1', authors = owner) =>
  updateSchema(db, walletId, id, input(change), authors)

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'registry-'))
  db = await openAgentDb(join(folder, 'agent.db'))
  await addWallets(db, 'w1', 'w2', 'w3')
})
afterEach(async () => {
  await db.destroy()
  rmSync(folder, { recursive: true })
})

describe('a schema is published', () => {
  test('and is read as it was returned', async () => {
    const published = await publish()
    const { guid, id } = published
    expect(published).toEqual({
      guid: guidOf({ author: acme, id, version: '1.0.0' }),
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      longId: `${acme}/${id}?version=1.0.0`,
      name: 'licence',
      version: '1.0.0',
      tags: ['driving', 'id'],
      description: 'Driving licence',
      type: jsonSchemaType,
      schema,
      author: acme,
      authored: expect.stringMatching(/Z$/),
      resolutionMethod: 'http',
      kind: 'CredentialSchema',
      self: `/schema-registry/schemas/${guid}`,
    })
    expect(await getSchema(db, guid)).toEqual(published)
    expect(await findSchema(db, guid.toUpperCase())).toEqual(published)
  })

  test('without description and tags', async () => {
    const { guid } = await publish({ description: null, tags: [] })
    expect(await getSchema(db, guid)).toMatchObject({ description: '', tags: [] })
  })

  test('with a repeated tag', async () => {
    const published = await publish({ tags: ['a', 'b', 'a'] })
    expect(published.tags).toEqual(['a', 'b', 'a'])
  })

  test('twice under two ids', async () => {
    const [one, other] = [await publish(), await publish()]
    expect(one.id).not.toBe(other.id)
    expect(one.guid).not.toBe(other.guid)
  })

  test('with the author in the form it was sent', async () => {
    const long = `${acme}:CgY_-8`
    const asked: string[] = []
    const published = await publishSchema(db, 'w1', input({ author: long }), {
      owns: async (did) => asked.push(did) > 0,
      resolve,
    })
    expect(published.author).toBe(long)
    expect(published.longId.startsWith(long)).toBe(true)
    expect(asked).toEqual([long])
  })
})

describe('a schema is refused', () => {
  test.each([
    ['of an author that is not in the wallet', input(), stranger, { type: 'NotFound', status: 404 }],
    [
      'of an author with another DID method',
      input({ author: 'did:peer:2z6Mk' }),
      owner,
      { type: 'BadRequest', status: 400 },
    ],
    [
      'of an author with a malformed did:prism',
      input({ author: 'did:prism:ac' }),
      owner,
      { type: 'BadRequest', status: 400 },
    ],
    [
      'of an unknown type',
      input({ type: 'x' }),
      owner,
      { type: 'error:CredentialSchemaError:UnsupportedCredentialSchemaType' },
    ],
    [
      'that is not valid',
      input({ schema: { ...schema, x: 1 } }),
      owner,
      { type: 'error:CredentialSchemaError:InvalidSchema', status: 400 },
    ],
  ])('%s', async (_, refused, isAuthor, problem) => {
    await expect(publishSchema(db, 'w1', refused, isAuthor)).rejects.toMatchObject(problem)
    expect((await listSchemas(db, 'w1', page)).total).toBe(0)
  })

  test('that does not exist, when read', async () => {
    const guid = '00000000-0000-3000-8000-000000000000'
    expect(await findSchema(db, guid)).toBeUndefined()
    await expect(getSchema(db, guid)).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:CredentialSchemaGuidNotFoundError',
      status: 404,
    })
  })
})

describe('a new version', () => {
  test('keeps the id, has a guid of its own, and leaves the old one as it was', async () => {
    const first = await publish()
    const second = await update(first.id, { version: '1.1.0', name: 'new', tags: [] })
    expect(second).toMatchObject({
      id: first.id,
      name: 'new',
      tags: [],
      guid: guidOf({ author: acme, id: first.id, version: '1.1.0' }),
    })
    expect(await getSchema(db, first.guid)).toEqual(first)
    expect(await getSchema(db, second.guid)).toEqual(second)
    expect(await findLatestSchema(db, 'w1', acme, first.id)).toEqual(second)
  })

  test.each([
    ['1.9.0', '1.10.0'],
    ['1.0.0-rc.1', '1.0.0'],
    ['9.0.0', '10.0.0'],
  ])('after %s may be %s but not the other way round', async (lower, greater) => {
    const first = await publish({ version: lower })
    await update(first.id, { version: greater })
    const problem = { type: 'error:CredentialSchemaError:CredentialSchemaUpdateError', status: 400 }
    for (const version of [lower, greater, `${greater}+build`]) {
      await expect(update(first.id, { version })).rejects.toMatchObject(problem)
    }
    expect((await findLatestSchema(db, 'w1', acme, first.id))?.version).toBe(greater)
  })

  test('may name the author in the other form of the DID', async () => {
    const first = await publish()
    const second = await update(first.id, { author: `${acme}:CgY`, version: '2.0.0' })
    expect(second.author).toBe(`${acme}:CgY`)
    expect((await findLatestSchema(db, 'w1', acme, first.id))?.version).toBe('2.0.0')
  })

  test('needs an id of the same author in the same wallet', async () => {
    const { id } = await publish()
    const problem = { type: 'error:CredentialSchemaError:CredentialSchemaIdNotFoundError', status: 404 }
    await expect(update(id, { version: '2.0.0' }, 'w2')).rejects.toMatchObject(problem)
    await expect(update(id, { version: '2.0.0', author: bank })).rejects.toMatchObject(problem)
    await expect(update('00000000-0000-4000-8000-000000000000', { version: '2.0.0' })).rejects.toMatchObject(
      problem,
    )
    await expect(update(id, { version: '2.0.0' }, 'w1', stranger)).rejects.toMatchObject({
      type: 'NotFound',
    })
  })

  test('with an existing guid is refused and changes nothing', async () => {
    const first = await publish()
    const row = await db
      .selectFrom('credential_schema')
      .selectAll()
      .where('guid', '=', first.guid)
      .executeTakeFirstOrThrow()
    const taken = {
      ...row,
      version: '2.0.0',
      guid: guidOf({ author: acme, id: first.id, version: '2.0.0' }),
      wallet_id: 'w2',
    }
    await db.insertInto('credential_schema').values(taken).execute()
    const second = update(first.id, { version: '2.0.0' })
    await expect(second).rejects.toMatchObject({
      type: 'error:CredentialSchemaError:CredentialSchemaUpdateError',
    })
    expect((await listSchemas(db, 'w1', page)).schemas).toEqual([first])
    expect((await listSchemas(db, 'w2', { ...page, tags: 'id' })).total).toBe(0)
  })

  test('published by ten at once is published once', async () => {
    const { id } = await publish()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => update(id, { version: '2.0.0' })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({
          type: 'error:CredentialSchemaError:CredentialSchemaUpdateError',
        })
    }
    expect((await listSchemas(db, 'w1', page)).total).toBe(2)
  })
})

describe('a list', () => {
  test('is of one wallet, in the order of publication, page by page', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `schema ${i}`)
    for (const name of names) await publish({ name })
    await publish({ name: 'another' }, 'w2')
    const read = async (offset: number, limit: number) =>
      (await listSchemas(db, 'w1', { offset, limit })).schemas.map(({ name }) => name)
    expect(await read(0, 100)).toEqual(names)
    expect([...(await read(0, 10)), ...(await read(10, 10)), ...(await read(20, 10))]).toEqual(names)
    expect(await read(25, 10)).toEqual([])
    expect((await listSchemas(db, 'w1', { offset: 20, limit: 1 })).total).toBe(22)
    expect(await listSchemas(db, 'w3', page)).toEqual({ schemas: [], total: 0 })
  })

  test('is filtered exactly', async () => {
    const one = await publish({ name: 'one', tags: ['a', 'b'] })
    await publish({ name: 'two', tags: ['b'], author: bank })
    await update(one.id, { name: 'one', version: '2.0.0', tags: ['c%'] })
    const found = async (filter: object) => {
      const { schemas, total } = await listSchemas(db, 'w1', { ...page, ...filter })
      expect(total).toBe(schemas.length)
      return schemas.map(({ name, version }) => `${name} ${version}`)
    }
    expect(await found({ name: 'one' })).toEqual(['one 1.0.0', 'one 2.0.0'])
    expect(await found({ version: '1.0.0' })).toEqual(['one 1.0.0', 'two 1.0.0'])
    expect(await found({ author: bank })).toEqual(['two 1.0.0'])
    expect(await found({ tags: 'b' })).toEqual(['one 1.0.0', 'two 1.0.0'])
    expect(await found({ tags: 'c%' })).toEqual(['one 2.0.0'])
    expect(await found({ tags: 'b', name: 'one', version: '1.0.0', author: acme })).toEqual(['one 1.0.0'])
    expect(await found({ name: '%' })).toEqual(['one 1.0.0', 'two 1.0.0', 'one 2.0.0'])
    expect(await found({ name: 't%' })).toEqual(['two 1.0.0'])
    expect(await found({ name: '%n%', version: '2.%' })).toEqual(['one 2.0.0'])
    expect(await found({ author: `%${bank.slice(10)}` })).toEqual(['two 1.0.0'])
    for (const none of [
      { name: 'on' },
      { name: 'on_' },
      { name: 'on_%' },
      { name: String.raw`\%` },
      { name: 'ONE' },
      { tags: '%' },
      { tags: 'a,b' },
      { name: "' or 1=1 --" },
      { author: '' },
    ]) {
      expect(await found(none)).toEqual([])
    }
  })
})
