/** Describes a proof request in words. */
import { expect, test } from 'vitest'
import { proofRequestText } from '../../cli/format/proof-request.ts'
import { connect } from '../_tenants.ts'
import { words } from './_cli.ts'
import { startCommandedPair } from './_agents.ts'

const jwt = {
  options: { challenge: 'c', domain: 'd' },
  presentation_definition: { id: 'x', input_descriptors: [] },
}
const schemaId = 'https://schemas.example/employee'
const issuer = `did:prism:${'ab'.repeat(32)}`
const restrictions = [{ schema_id: schemaId, issuer_did: issuer }]

test.each([
  ['any JWT credential', jwt, []],
  ['a JWT credential with the schema employee', jwt, [{ schemaId: 'https://schemas.example/employee.json' }]],
  [
    'a JWT credential with the schema …1f2c9a3b of agent.example:8085',
    jwt,
    [{ schemaId: 'http://agent.example:8085/schema-registry/schemas/0190ab12-0000-7000-8000-12341f2c9a3b' }],
  ],
  [
    'a JWT credential with the schema employee, issued by did:prism:…abab, and one with the schema b',
    jwt,
    [
      { schemaId, trustIssuers: [`${issuer}:long`] },
      { schemaId: 'https://schemas.example/b', trustIssuers: [] },
    ],
  ],
  ['any SD-JWT credential', { options: jwt.options, claims: {} }, []],
  ['name and address.city of an SD-JWT credential', { claims: { name: '', address: { city: '' } } }, []],
  [
    'name and age ≥ 18 of an AnonCreds credential',
    {
      requested_attributes: { a: { name: 'name' } },
      requested_predicates: { p: { name: 'age', p_type: '>=', p_value: 18 } },
    },
    [],
  ],
  [
    'name of an AnonCreds credential with the schema employee, issued by did:prism:…abab',
    { requested_attributes: { a: { name: 'name', restrictions } }, requested_predicates: {} },
    [],
  ],
  [
    'Proof of employment (employer = Acme and name)',
    {
      presentation_definition: {
        input_descriptors: [
          {
            id: 'one',
            name: 'Proof of employment',
            constraints: {
              fields: [
                { path: ['$.vc.credentialSubject.employer'], filter: { const: 'Acme' } },
                { path: ['$.credentialSubject.name'] },
              ],
            },
          },
        ],
      },
    },
    [],
  ],
])('%s', (text, content, proofs) => {
  expect(proofRequestText({ requestData: [JSON.stringify(content)], proofs })).toBe(text)
})

test('both sides see the request in words in show and list, and JSON only with --json', async () => {
  await using pair = await startCommandedPair()
  const { holder, issuer: verifier, as } = pair
  const { inviterConnectionId } = await connect(verifier, holder)
  const asking = words`
    proof request --connection ${inviterConnectionId} --schema ${schemaId} --trust-issuer ${issuer}
  `
  const made = await as(verifier).run`${asking} --domain shop.example --json`
  const { presentationId, requestData } = JSON.parse(made.out)
  const asked = 'a JWT credential with the schema employee, issued by did:prism:…abab'
  await expect.poll(async () => (await as(holder).run`proof list`).out).toContain('RequestReceived')
  const [received] = (await as(holder).json`proof list`).contents
  expect(received.requestData).toEqual(requestData)
  for (const [who, id] of [
    [verifier, presentationId],
    [holder, received.presentationId],
  ]) {
    const shown = await as(who).run`proof show ${id}`
    expect(shown.out).toMatch(new RegExp(`asked for +${asked}\n`))
    expect(shown.out).toMatch(new RegExp(`schema +${schemaId}\n`))
    expect(shown.out).toMatch(new RegExp(`trusted issuer +${issuer}\n`))
    expect(shown.out).toContain('shop.example')
    expect(shown.out + (await as(who).run`proof list`).out).not.toContain('{')
    expect((await as(who).run`proof list`).out).toContain(asked)
  }
})
