/** `agent creddef` against the built bundle with its key-generation process and its worker thread. */
import { expect, test } from 'vitest'
import { type Line, words } from './_cli.ts'
import { serveIssuer } from './_agents.ts'

const issuer = serveIssuer()
const { user } = issuer

const run = async (...line: Line) => {
  const { out, err } = await user.run`${words(...line)} --json`
  return JSON.parse(out || err) as Record<string, any>
}

test('an attribute schema is published, and a definition created for it', async () => {
  const { did: author } = issuer
  const publish = words`
    schema publish --anoncreds --name ${'id card'} --author ${author} --attribute name
    --attribute age
  `
  const { guid: schema, ...rest } = await run(publish)
  expect(rest).toMatchObject({
    type: 'AnoncredSchemaV1',
    schema: { name: 'id card', version: '1.0.0', attrNames: ['name', 'age'], issuerId: author },
  })
  expect((await user.run`${publish} --schema {}`).code).toBe(2)
  expect((await user.run(publish.filter((arg) => arg !== '--anoncreds'))).code).toBe(2)

  const create = ['creddef', 'create', '--schema', schema, '--author', author, '--name', 'id card']
  const made = await run(create)
  expect(made).toMatchObject({
    state: 'READY',
    tag: 'default',
    schemaId: expect.stringMatching(`/schemas/${schema}/schema$`),
  })

  const soon = await user.run`${create} --no-wait --tag second`
  expect(soon).toMatchObject({ code: 0, out: expect.stringMatching(/state +GENERATING/) })
  const { out } = await user.run`creddef list --tag default -q`
  expect(out).toBe(made['guid'])
  expect((await user.run`creddef list`).out).toMatch(/id card +1\.0\.0 +second +(?:GENERATING|READY)/)
  const shown = await user.run`creddef show ${made['guid']}`
  expect(shown.out).toMatch(/attributes +name age\n/)
  expect(await run`creddef show ${made['guid']} --raw`).toEqual(made['definition'])
  expect((await user.run`creddef show ${schema}`).code).toBe(3)
})

test('a wait that is too short ends with 6, and prints the definition', async () => {
  const { did: author } = issuer
  const { guid: schema } =
    await run`schema publish --anoncreds --name card --author ${author} --attribute name`
  const create = words`creddef create --schema ${schema} --author ${author} --name card`
  // Keys are generated one after the other, so that the last one is not ready soon.
  for (const tag of ['1', '2', '3']) expect(await run`${create} --tag ${tag} --no-wait`).toBeDefined()
  const late = await user.run`${create} --timeout 1s --json`
  expect(late.code).toBe(6)
  expect(JSON.parse(late.out)).toMatchObject({ state: 'GENERATING' })
  const { guid } = JSON.parse(late.out)
  expect(late.err).toContain(`The key of the credential definition ${guid} is not generated after 1 s`)
  expect(await user.run`${create} --timeout soon`).toMatchObject({ code: 2 })
})

test('schemas and definitions work with DID URLs', async () => {
  const { did: author } = issuer
  const publish = words`
    schema publish --did-url --anoncreds --name ${'id card'} --author ${author} --attribute name -q
  `
  const { out: schema } = await user.run(publish)
  const { out } = await user.run`schema show ${schema} --did-url --raw --json`
  expect(JSON.parse(out)).toMatchObject({ url: expect.stringMatching(`did-url/${schema}/schema`) })
  expect((await user.run`creddef list --did-url`).err).toContain('There are no credential definitions')
})
