/** The look of an issuer and of a credential, from files with pictures beside them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveTwoTenants } from './_agents.ts'

const { user, other } = serveTwoTenants('holder')

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><text>{{given_name}}</text></svg>'
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { given_name: { type: 'string' }, department: { type: 'string' } },
}
const card = {
  display: [
    {
      locale: 'de',
      name: 'Dienstausweis',
      logo: { file: 'logo.png', altText: 'Das Logo' },
      backgroundColor: '#003366',
    },
    { locale: 'en', name: 'Employee card' },
  ],
  claims: [
    { path: ['department'], labels: { de: 'Abteilung', en: 'Department' } },
    { path: ['given_name'], svgId: 'given_name', labels: { de: 'Vorname', en: 'Given name' } },
  ],
  svgTemplates: [
    { file: 'dark.svg', colorScheme: 'dark' },
    { file: 'card.svg', colorScheme: 'light' },
  ],
}

async function prepare() {
  const folder = join(user.folder, 'look')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'logo.png'), png)
  writeFileSync(join(folder, 'card.svg'), svg)
  writeFileSync(join(folder, 'dark.svg'), svg.replace('<svg ', '<svg class="dark" '))
  writeFileSync(join(folder, 'card.json'), JSON.stringify(card))
  writeFileSync(
    join(folder, 'issuer.json'),
    JSON.stringify([{ locale: 'de', name: 'Beispiel AG', logo: { file: 'logo.png' } }]),
  )
  const { longFormDid: did } = await user.json`did create --method jwk`
  const { guid } =
    await user.json`schema publish --name employee --author ${did} --schema ${JSON.stringify(schema)}`
  const { id } = await user.json`issuer create`
  await user.run`issuer configuration add ${id} --id Employee --schema ${guid} --format sdjwt --issuing-did ${did}`
  return { folder, id, did }
}

test('a German card goes from a file to the wallet of its holder', async () => {
  const { folder, id } = await prepare()
  const issuer = await user.json`issuer update ${id} --display ${`@${join(folder, 'issuer.json')}`}`
  expect(issuer.display).toMatchObject([
    { locale: 'de', name: 'Beispiel AG', logo: { uri: expect.stringContaining(`/issuers/${id}/media/`) } },
  ])
  const file = `@${join(folder, 'card.json')}`
  const made = await user.json`issuer configuration update ${id} Employee --display ${file}`
  expect(made.display[0].logo.integrity).toMatch(/^sha256-/)
  expect(made.svgTemplates[0].uri).toMatch(/\/media\/[0-9a-f]{64}$/)
  const output = join(folder, 'preview.svg')
  const preview =
    await user.run`issuer preview ${id} --configuration Employee --locale de-AT --output ${output}`
  expect(preview.out).toMatch(
    /name +Dienstausweis[^]*logo +Das Logo[^]*#ffffff on #003366[^]*claim given_name +Vorname/,
  )
  expect(readFileSync(output, 'utf8')).toBe(svg.replace('{{given_name}}', 'Vorname'))
  const { credentialOffer } = await user.json`
    credential offer --oid4vci ${id} --configuration Employee --claim given_name=Alice --claim department=R&D
  `
  const { recordId } = await other.json`oid4vc receive ${credentialOffer} --yes`
  const german = (await other.run`credential show ${recordId} --locale de`).out
  expect(german).toMatch(
    /name +Dienstausweis\n(?:.*\n)*?claim Abteilung \(department\) +R&D\nclaim Vorname \(given_name\) +Alice/,
  )
  const english = await other.run`credential show ${recordId} --locale en-GB`
  expect(english.out).toMatch(/name +Employee card\n[^]*claim Given name \(given_name\) +Alice/)
  // Somebody has the digest of the type now.
  writeFileSync(join(folder, 'card.json'), JSON.stringify({ display: [{ locale: 'de', name: 'Ausweis' }] }))
  const again = await user.run`issuer configuration update ${id} Employee --display ${file}`
  expect([again.code, again.err]).toEqual([5, expect.stringContaining('--new-version')])
  const next = await user.json`issuer configuration update ${id} Employee --display ${file} --new-version`
  expect(next.typeVersion).toBe(2)
})

test('small pictures can be inline; others are refused by name and line', async () => {
  const { folder, id } = await prepare()
  const file = `@${join(folder, 'issuer.json')}`
  const { display } = await user.json`issuer update ${id} --display ${file} --inline`
  expect(display[0].logo.uri).toBe(`data:image/png;base64,${png.toString('base64')}`)
  writeFileSync(join(folder, 'card.svg'), '<svg xmlns="http://www.w3.org/2000/svg">\n<script/></svg>')
  const refused =
    await user.run`issuer configuration update ${id} Employee --display ${`@${join(folder, 'card.json')}`}`
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('line 2 has the element script')])
  writeFileSync(join(folder, 'none.json'), '{"name": "A", "logo": {"file": "none.png"}}')
  const missing = await user.run`issuer update ${id} --display ${`@${join(folder, 'none.json')}`}`
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('none.png cannot be read')])
})
