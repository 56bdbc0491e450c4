/** `agent creddef` against the built bundle with its key-generation process and its worker thread. */
import { expect, test } from 'vitest'
import { until } from '../_tenants.ts'
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
  const { guid } = await run(create)
  // A busy machine may need longer than the server delays the answer.
  const made = await until(
    'the key',
    () => run`creddef show ${guid}`,
    ({ state }) => state === 'READY',
  )
  expect(made).toMatchObject({
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
