/** A credential definition whose key is generated. */
import { expect, test } from 'vitest'
import { getPrivateKey } from '../../../src/credentials/anoncreds/issuer.ts'
import { nameUuid } from '../../../src/credentials/schemas/schema.ts'
import { sharedAgent } from '../../support/agent.ts'
import { ask as askRaw } from '../../support/ask.ts'
import { newDid, until } from '../../support/tenants.ts'

const path = '/credential-definition-registry/definitions'

/** A key takes minutes on a busy machine. */
const patienceMs = 400_000

test(
  'a definition is published at once without its key, and completed when the key is ready',
  { timeout: patienceMs + 60_000 },
  async () => {
    const agent = await sharedAgent()
    const author = await agent.newTenant()
    const { did } = await newDid(author, 'assertionMethod')
    const schema = {
      name: 'id card',
      version: '1.0.0',
      attrNames: ['Given Name', 'age', 'country'],
      issuerId: did,
    }
    const { guid: schemaGuid } = await author.call('POST /schema-registry/schemas', {
      body: { name: 'id card', version: '1.0.0', type: 'AnoncredSchemaV1', schema, author: did },
    })
    const schemaId = `${agent.url}/schema-registry/schemas/${schemaGuid}/schema`
    const ask = (method: string, target = '', body?: unknown) =>
      askRaw(agent, `${method} ${path}${target}`, { body, headers: { apikey: author.apiKey } })

    const input = {
      name: 'id card',
      version: '1.0.0',
      tag: 'id',
      description: 'For citizens',
      author: did,
      schemaId,
      signatureType: 'CL',
      supportRevocation: false,
    }
    const answer = ask('POST', '', input)
    const list = async () =>
      (await ask('GET')).body['contents'] as { id: string; guid: string; state: string }[]
    const [listed] = await until('the definition', list, (all) => all.length > 0)
    const { id, guid } = listed!
    expect((await ask('GET', `/${guid}`)).body).toEqual(listed)
    expect(listed).toMatchObject({ state: 'GENERATING' })
    const early = await ask('GET', `/${guid}/definition`)
    expect(early).toMatchObject({
      status: 503,
      body: { type: 'error:CredentialDefinitionError:NotGeneratedYet' },
    })
    expect(early.headers.get('retry-after')).toBe('2')

    // On a busy machine, the key may take longer than the response waits.
    const { status, body } = await answer
    expect({ 201: 'READY', 202: 'GENERATING' }[status]).toBe(body['state'])
    if (status === 202) await agent.agent.definitions.whenGenerated(guid, AbortSignal.timeout(patienceMs))
    const { authored, definition, keyCorrectnessProof, ...rest } = (await ask('GET', `/${guid}`)).body
    expect(rest).toEqual({
      guid,
      id,
      longId: `${did}/${id}?version=1.0.0`,
      ...input,
      state: 'READY',
      resolutionMethod: 'http',
      kind: 'CredentialDefinition',
      self: `${path}/${guid}`,
    })
    expect(guid).toBe(nameUuid(`${did}/${id}?version=1.0.0`))
    expect(new Date(authored).toISOString()).toBe(authored)
    expect(definition).toMatchObject({ issuerId: did, type: 'CL', tag: 'id', schemaId })
    expect(Object.keys(definition.value.primary.r)).toEqual(['master_secret', 'givenname', 'age', 'country'])

    // The library accepts the key, and the wallet has its private part.
    const { anoncreds } = agent.agent.env
    const credDefId = `${agent.url}${path}/${guid}/definition`
    const offer = await anoncreds.createOffer({ schemaId, credDefId, keyCorrectnessProof })
    const linkSecret = await anoncreds.createLinkSecret()
    const { request, metadata } = await anoncreds.createRequest({ definition, linkSecret, offer })
    const privateKey = await agent.agent.wallets.use(author.walletId, (wallet) => getPrivateKey(wallet, guid))
    const values = { 'Given Name': 'Alice', age: '30', country: 'SE' }
    const credential = await anoncreds.createCredential({ definition, privateKey, offer, request, values })
    await anoncreds.processCredential({ credential, metadata, linkSecret, definition })
  },
)
