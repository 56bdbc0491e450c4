/**
 * Issuance over OpenID4VCI with the pre-authorized code grant, next to the bare issuer, and the renewal of
 * credentials, for which there is no bare one.
 */
import { newDid, publishSchema } from '../../test/support/tenants.ts'
import { load } from '../_load.ts'
import type { Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { codeOf, issue, type Issuer } from './_holder.ts'
import { jsonOf, post } from './_http.ts'
import { measureFlow, measureNextToBare, openAgent, openBareServer, type Flow } from './_next-to-bare.ts'
import { createRefresher } from './_refresher.ts'

const formats = ['jwt_vc_json', 'dc+sd-jwt'] as const

export async function measureOpenId4Vci(scale: Scale): Promise<Outcome> {
  await using bare = await openBareServer('_bare-issuer.ts')
  await using agent = await openAgent('issuer')
  const flow = bareFlow(bare)
  const flows = await issuanceFlows(agent)
  const sides = { bare: { ...bare, flow }, agent: { ...agent, flows } }
  const issued = await measureNextToBare('OpenID4VCI: offer, token, nonce, credential', sides, scale)
  const renewed = await measureRenewal(agent, scale)
  return {
    tables: [...issued.tables, ...renewed.tables],
    failures: [...issued.failures, ...renewed.failures],
  }
}

/** The most renewals of a measured second. */
const mostASecond = 400

/** One renewal at a time, and sixteen, of wallets that are made before. */
async function measureRenewal(
  agent: Awaited<ReturnType<typeof openAgent>>,
  { seconds, warmUp }: Scale,
): Promise<Outcome> {
  const refresher = createRefresher(await renewableIssuer(agent))
  const once = () => refresher.once()
  await refresher.prepare(warmUp.flows)
  await load(once, { concurrency: 16, seconds: warmUp.seconds, most: warmUp.flows })
  const [rows, failures]: [Row[], string[]] = [[], []]
  for (const concurrency of [1, 16]) {
    const most = seconds * mostASecond
    await refresher.prepare(most)
    const flow = { name: 'dc+sd-jwt', once }
    const { figures, reasons } = await measureFlow(agent, flow, { concurrency, seconds, most })
    rows.push({ name: flow.name, figures })
    failures.push(...reasons)
  }
  return { tables: [{ title: 'OpenID4VCI: refresh, nonce, credential', rows }], failures }
}

/** An issuer whose credential is renewed. */
async function renewableIssuer(agent: Awaited<ReturnType<typeof openAgent>>): Promise<Issuer> {
  const add = await newIssuer(agent)
  return add({ configurationId: 'renewable', format: 'dc+sd-jwt', renewal: { days: 90, maxDays: 365 } })
}

function bareFlow({ url, pool }: Awaited<ReturnType<typeof openBareServer>>): Flow {
  const offer = async () => (await post(pool, '/issuer/offers', jsonOf({}))).code as string
  const issuer = { identifier: `${url}/issuer`, configurationId: 'bare', pool, offer }
  return { name: 'bare issuer', once: () => issue(issuer) }
}

/** An issuer with a configuration of each format. */
export async function issuanceFlows(agent: Awaited<ReturnType<typeof openAgent>>): Promise<[Flow, Flow]> {
  const add = await newIssuer(agent)
  const newFlow = async (format: (typeof formats)[number]): Promise<Flow> => {
    const issuer = await add({ configurationId: format, format })
    return { name: format, once: () => issue(issuer) }
  }
  return [await newFlow(formats[0]), await newFlow(formats[1])]
}

type Configuration = {
  configurationId: string
  format: (typeof formats)[number]
  renewal?: { days: number; maxDays: number }
}

/** A new issuer: how a configuration is added to it. */
async function newIssuer({ url, pool, tenant }: Awaited<ReturnType<typeof openAgent>>) {
  const { did: issuingDID } = await newDid(tenant, 'assertionMethod', 'Ed25519')
  const schemaId = await publishSchema(tenant, issuingDID, {
    properties: { familyName: { type: 'string' }, age: { type: 'integer' } },
    required: ['familyName', 'age'],
  })
  const { id: issuerId } = await tenant.call('POST /oid4vci/issuers', { body: {} })
  const path = `/oid4vci/issuers/${issuerId}`
  return async (configuration: Configuration): Promise<Issuer> => {
    await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
      path: { issuerId },
      body: { ...configuration, schemaId },
    })
    const { configurationId } = configuration
    const claims = { familyName: 'Rossi', age: 42 }
    const request = jsonOf(
      { credentialConfigurationId: configurationId, issuingDID, claims },
      { apikey: tenant.apiKey },
    )
    const offer = async () =>
      codeOf((await post(pool, `${path}/credential-offers`, request)).credentialOffer as string)
    return { identifier: `${url}${path}`, configurationId, pool, offer }
  }
}
