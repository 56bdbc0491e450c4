/** Issuance over OpenID4VCI with the pre-authorized code grant, next to the bare issuer. */
import { newDid, publishSchema } from '../../test/support/tenants.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { codeOf, issue, type Issuer } from './_holder.ts'
import { jsonOf, post } from './_http.ts'
import { measureNextToBare, openAgent, openBareServer, type Flow } from './_next-to-bare.ts'

const formats = ['jwt_vc_json', 'dc+sd-jwt'] as const

export async function measureOpenId4Vci(scale: Scale): Promise<Outcome> {
  await using bare = await openBareServer('_bare-issuer.ts')
  await using agent = await openAgent('issuer')
  const flow = bareFlow(bare)
  const flows = await issuanceFlows(agent)
  const sides = { bare: { ...bare, flow }, agent: { ...agent, flows } }
  return await measureNextToBare('OpenID4VCI: offer, token, nonce, credential', sides, scale)
}

function bareFlow({ url, pool }: Awaited<ReturnType<typeof openBareServer>>): Flow {
  const offer = async () => (await post(pool, '/issuer/offers', jsonOf({}))).code as string
  const issuer = { identifier: `${url}/issuer`, configurationId: 'bare', pool, offer }
  return { name: 'bare issuer', once: () => issue(issuer) }
}

/** An issuer with a configuration of each format. */
export async function issuanceFlows({
  url,
  pool,
  tenant,
}: Awaited<ReturnType<typeof openAgent>>): Promise<[Flow, Flow]> {
  const { did: issuingDID } = await newDid(tenant, 'assertionMethod', 'Ed25519')
  const schemaId = await publishSchema(tenant, issuingDID, {
    properties: { familyName: { type: 'string' }, age: { type: 'integer' } },
    required: ['familyName', 'age'],
  })
  const { id: issuerId } = await tenant.call('POST /oid4vci/issuers', { body: {} })
  const path = `/oid4vci/issuers/${issuerId}`
  const newFlow = async (format: (typeof formats)[number]): Promise<Flow> => {
    await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
      path: { issuerId },
      body: { configurationId: format, format, schemaId },
    })
    const claims = { familyName: 'Rossi', age: 42 }
    const request = jsonOf(
      { credentialConfigurationId: format, issuingDID, claims },
      { apikey: tenant.apiKey },
    )
    const offer = async () =>
      codeOf((await post(pool, `${path}/credential-offers`, request)).credentialOffer as string)
    const issuer: Issuer = { identifier: `${url}${path}`, configurationId: format, pool, offer }
    return { name: format, once: () => issue(issuer) }
  }
  return [await newFlow(formats[0]), await newFlow(formats[1])]
}
