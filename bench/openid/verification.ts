/** Verification over OpenID4VP of an SD-JWT VC for a signed request, next to the bare verifier. */
import type { Outcome, Scale } from '../_scenarios.ts'
import { jsonOf, post } from './_http.ts'
import { measureNextToBare, openAgent, openBareServer, type Flow } from './_next-to-bare.ts'
import { dcqlQuery, present } from './_presenter.ts'

export async function measureOpenId4Vp(scale: Scale): Promise<Outcome> {
  await using bare = await openBareServer('_bare-verifier.ts')
  await using agent = await openAgent('verifier')
  const sides = {
    bare: { ...bare, flow: bareFlow(bare) },
    agent: { ...agent, flows: await verificationFlows(agent) },
  }
  return await measureNextToBare('OpenID4VP: request, request object, response', sides, scale)
}

function bareFlow({ pool }: Awaited<ReturnType<typeof openBareServer>>): Flow {
  const request = async () => requestOf(await post(pool, '/requests', jsonOf({ dcqlQuery })))
  return { name: 'bare verifier', once: () => present({ pool, request }) }
}

export async function verificationFlows({
  pool,
  tenant,
}: Awaited<ReturnType<typeof openAgent>>): Promise<[Flow]> {
  const { longFormDid: did } = await tenant.call('POST /did-registrar/dids', {
    body: { method: 'jwk', documentTemplate: { publicKeys: [], services: [] } },
  })
  const body = jsonOf({ dcqlQuery, did, issuers: 'any' }, { apikey: tenant.apiKey })
  const request = async () => requestOf(await post(pool, '/present-proof/presentations/openid4vp', body))
  return [{ name: 'dc+sd-jwt', once: () => present({ pool, request }) }]
}

const requestOf = (presentation: Record<string, any>) =>
  presentation['openid4vp'].authorizationRequest as string
