/** A credential with claims of three origins: the offer, the log-in of the person, and the claims source. */
import { expect, test } from 'vitest'
import { decodeJwtVc } from '../../../credentials/codecs/_verify.ts'
import { startAgent } from '../../../support/agent.ts'
import { untilEnd } from '../../../support/shared.ts'
import { answer, offered, redeemAuthorized, sealedIn } from '../_authorization.ts'
import { addSource, filled, openSource } from '../_claims-source.ts'
import { addIssuer, prove, recordOf, request } from '../_wallet.ts'
import { browse, useProvider } from './_browser.ts'
import { startIdentityProvider } from './_real-provider.ts'

const agent = await untilEnd(startAgent())
const setup = await addIssuer(agent, await agent.newTenant('issuer'))
const provider = await untilEnd(startIdentityProvider({ redirectUris: [`${setup.identifier}/log-in`] }))
await useProvider(setup, provider.url, { scope: 'openid profile email staff' })

test.each([{ employeeId: '7' }, undefined])(
  'an offer of %j: the source is told who has logged in, and asked for the other claims',
  async (claims) => {
    const own = claims === undefined ? { employeeId: '9' } : {}
    await using source = await openSource(filled({ level: 3, ...own }))
    const { configurationId, secret } = await addSource(setup, source.url)
    const { recordId, verifier, parameters } = await offered(setup, {
      credentialConfigurationId: configurationId,
      claims: claims as never,
      txCode: false,
    })
    const page = await browse(setup, { ...parameters, scope: configurationId })
    for (const claim of ['employeeId', 'department', 'level'])
      expect(page.text).toContain(`<li>${claim}</li>`)
    expect(source.requests).toEqual([])
    const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
    const code = location!.searchParams.get('code')!
    const { body: token } = await redeemAuthorized(setup, { code, verifier })
    const body = { credential_configuration_id: configurationId, proofs: { jwt: [await prove(setup)] } }
    const reply = await request(setup, { token: token.access_token, body })
    expect(source.verify(secret)).toMatchObject({
      identity: {
        from: 'log-in',
        iss: provider.url,
        sub: 'alice',
        claims: { name: 'Alice Adams', department: 'Sales' },
      },
      offered: claims ?? {},
      wanted: claims === undefined ? [['employeeId'], ['level']] : [['level']],
    })
    const all = { ...claims, ...own, department: 'Sales', level: 3 }
    expect(decodeJwtVc(reply.body.credentials[0].credential).claims).toMatchObject(all)
    expect(await recordOf(setup, recordId)).toMatchObject({ claims: all, protocolState: 'CredentialSent' })
  },
)
