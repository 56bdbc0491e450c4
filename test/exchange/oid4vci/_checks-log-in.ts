/** Checks of a log-in at the provider of an issuer, and the attack that each one stops. */
import { ask } from '../../support/ask.ts'
import { answer, offered, open, push, sealedIn } from './_authorization.ts'
import { begin, browse, comeBack, useProvider, visit } from './log-in/_browser.ts'
import { startLyingProvider, type Lies } from './log-in/_lying-provider.ts'
import { check, replyIf, type Check } from './_mutants.ts'
import { issuerClient } from './_provider.ts'
import { now, withWallet, type Scene } from './_scene.ts'
import { addIssuer } from './_wallet.ts'

const folder = 'src/exchange/oid4vci/log-in'
const thief = 'https://thief.example'

type Terms = { settings?: object; offer?: object }

/** The page after a log-in at a provider that lies. */
const lied =
  (lies: Lies, { settings = {}, offer = {} }: Terms = {}) =>
  async ({ staff, idp }: Scene) => {
    await useProvider(staff, idp.url, settings)
    idp.state.lies = lies
    try {
      const { parameters } = await offered(staff, { txCode: false, ...offer })
      return await browse(staff, parameters)
    } finally {
      idp.state.lies = {}
      await useProvider(staff, idp.url)
    }
  }

/** The departure of a browser, and where the provider sends it back to. */
async function returning({ staff }: Scene) {
  const { parameters } = await offered(staff, { txCode: false })
  const { redirect, cookie } = await begin(staff, parameters)
  return { redirect, cookie, back: await visit(staff, redirect) }
}

/** Changes the setting of an issuer, or makes one with it. */
const set =
  (logIn: object, more: object = {}) =>
  ({ agent, staff: { tenant } }: Scene) =>
    ask(agent, 'POST /oid4vci/issuers', { body: { logIn, ...more }, apiKey: tenant.apiKey })

const client = { issuer: 'https://idp.example', ...issuerClient }

const settings: Check[] = [
  check(
    `${folder}/settings.ts`,
    ["!url.startsWith('http:') || isLocalHost(new URL(url).hostname)", 'true'],
    set({ ...client, issuer: 'http://idp.example' }),
  ),
  check(
    `${folder}/settings.ts`,
    'next && row.authorization_server !== null',
    set(client, { authorizationServer: { url: 'https://login.example', ...issuerClient } }),
  ),
  check(`${folder}/settings.ts`, '!isNew && (!before || isOther)', async (scene) => {
    const { id } = (await set(client)(scene)).body
    const { apiKey } = scene.staff.tenant
    return ask(scene.agent, `PATCH /oid4vci/issuers/${id}`, { body: { logIn: { issuer: thief } }, apiKey })
  }),
  check('offers.ts', 'expectedIdentity && (issuer.log_in === null || isPreAuthorized)', (scene) => {
    const { tenant, issuerId, issuingDID } = scene.staff
    const terms = { grant: 'pre-authorized_code', expectedIdentity: { sub: 'alice' } }
    const body = { credentialConfigurationId: 'Person', issuingDID, claims: { name: 'Alice' }, ...terms }
    const call = `POST /oid4vci/issuers/${issuerId}/credential-offers`
    return ask(scene.agent, call, { body, apiKey: tenant.apiKey })
  }),
]

const returns: Check[] = [
  check(`${folder}/state.ts`, 'isOver(state.endsMs)', async (scene) => {
    const { back, cookie } = await returning(scene)
    const context = `log-in:${scene.staff.issuerId}`
    const aged = await withWallet(scene, (wallet) => {
      const state = JSON.parse(wallet.unseal(context, back.searchParams.get('state')!))
      return wallet.seal(context, JSON.stringify({ ...state, endsMs: 1 }))
    })
    back.searchParams.set('state', aged)
    return comeBack(back, cookie)
  }),
  check(`${folder}/state.ts`, 'secret === undefined || digestOf(secret) !== state.browser', async (scene) =>
    comeBack((await returning(scene)).back, (await returning(scene)).cookie),
  ),
  // The tenant has changed the provider; the new one gets the code of the old one.
  check(`${folder}/finish.ts`, 'settings?.issuer !== state.provider', async (scene) => {
    const { back, cookie, redirect } = await returning(scene)
    back.searchParams.delete('iss')
    await using other = await startLyingProvider()
    other.state.lies = {
      takesAll: true,
      claims: { nonce: new URL(redirect).searchParams.get('nonce') },
      metadata: { authorization_response_iss_parameter_supported: false },
    }
    await useProvider(scene.staff, other.url)
    try {
      return await comeBack(back, cookie)
    } finally {
      await useProvider(scene.staff, scene.idp.url)
    }
  }),
  check(
    `${folder}/finish.ts`,
    'isNamed ? iss !== settings.issuer : (iss ?? settings.issuer) !== settings.issuer',
    lied({ answer: { iss: thief } }),
  ),
  check(
    `${folder}/finish.ts`,
    'error !== undefined || code === undefined',
    lied({ answer: { error: 'login_required' } }),
  ),
  check(
    `${folder}/client.ts`,
    ['status === 200 && tokens.success', 'tokens.success'],
    lied({ token: { status: 400 } }),
  ),
  check(
    `${folder}/client.ts`,
    ['status !== 200 || !isJsonObject(claims)', '!isJsonObject(claims)'],
    lied({ userInfoStatus: 403 }, { settings: { claimsFrom: 'userinfo' } }),
  ),
  check(
    `${folder}/client.ts`,
    "claims['sub'] !== sub",
    lied({ userInfo: { sub: 'bob' } }, { settings: { claimsFrom: 'userinfo' } }),
  ),
  check('src/wallet/bearer-tokens/provider.ts', 'metadata.issuer !== issuer', async (scene) => {
    await using idp = await startLyingProvider()
    await useProvider(scene.staff, idp.url)
    idp.state.lies = { metadata: { issuer: thief } }
    try {
      const { parameters } = await offered(scene.staff, { txCode: false })
      return replyIf((await open(scene.staff, parameters)).status === 303)
    } finally {
      await useProvider(scene.staff, scene.idp.url)
    }
  }),
]

const idTokens: Check[] = [
  check(`${folder}/id-token.ts`, ['issuer: settings.issuer', ''], lied({ claims: { iss: thief } })),
  check(`${folder}/id-token.ts`, ['audience: clientId', ''], lied({ claims: { aud: 'another' } })),
  check(
    `${folder}/id-token.ts`,
    ['algorithms: [...config.OIDC_ALGORITHMS]', ''],
    lied({ signedBy: 'RS512' }),
  ),
  check(`${folder}/id-token.ts`, ["requiredClaims: ['exp']", ''], lied({ claims: { exp: undefined } })),
  check(
    `${folder}/id-token.ts`,
    ['maxTokenAge: lifetimeSeconds', ''],
    lied({ claims: { iat: now() - 3_000 } }),
  ),
  check(`${folder}/id-token.ts`, 'own !== nonce', lied({ claims: { nonce: 'of another log-in' } })),
  check(`${folder}/id-token.ts`, '(azp ?? clientId) !== clientId', lied({ claims: { azp: 'another' } })),
  check(
    `${folder}/id-token.ts`,
    'Array.isArray(aud) && aud.length > 1 && azp === undefined',
    lied({ claims: { aud: ['issuer', 'another'] } }),
  ),
  check(
    `${folder}/id-token.ts`,
    'acrValues && (acr === undefined || !acrValues.includes(acr))',
    lied({ claims: { acr: 'urn:low' } }, { settings: { acrValues: ['urn:high'] } }),
  ),
  check(
    `${folder}/id-token.ts`,
    'maxAge !== undefined && (authTime ?? 0) + maxAge + leewaySeconds < Date.now() / 1_000',
    lied({ claims: { auth_time: now() - 3_000 } }, { settings: { maxAge: 60 } }),
  ),
]

const email = 'alice@example.org'

const admissions: Check[] = [
  check(
    `${folder}/return.ts`,
    'expectedIdentity && !isExpected(identity, expectedIdentity)',
    lied({}, { offer: { expectedIdentity: { sub: 'bob' } } }),
  ),
  check(
    `${folder}/return.ts`,
    "'email' in (expected.claims ?? {}) && unverified.includes(claims['email_verified'])",
    lied(
      { claims: { email, email_verified: false } },
      { offer: { expectedIdentity: { claims: { email } } } },
    ),
  ),
  check(
    `${folder}/return.ts`,
    ['await personClaims(wallet, record, { identity }, awaits)', 'undefined'],
    lied({ claims: { name: 7 } }, { offer: { claims: {} } }),
  ),
  check(`${folder}/return.ts`, ['await requireUnanswered(wallet, request)', 'undefined'], async (scene) => {
    const { parameters } = await offered(scene.staff, { txCode: false })
    const { request_uri } = (await push(scene.staff, parameters)).body
    const pushed = { client_id: 'wallet', request_uri }
    // Both browsers have begun before the person declines on one of the pages.
    const [first, second] = [await begin(scene.staff, pushed), await begin(scene.staff, pushed)]
    const page = await comeBack(await visit(scene.staff, first.redirect), first.cookie)
    await answer(scene.staff, { request: sealedIn(page), decision: 'decline' })
    return comeBack(await visit(scene.staff, second.redirect), second.cookie)
  }),
  check(
    `${folder}/return.ts`,
    ['await wallet.env.limitOffers(grantIdOf(request))', 'undefined'],
    async (scene) => {
      const { back, cookie } = await returning(scene)
      for (let count = 1; count < 31; count++) await comeBack(back, cookie)
      return replyIf((await comeBack(back, cookie)).status !== 429)
    },
  ),
  check('consent.ts', ['await wallet.env.limitOffers(grantId)', 'undefined'], async (scene) => {
    await useProvider(scene.staff, 'http://127.0.0.1:9')
    try {
      const { parameters } = await offered(scene.staff, { txCode: false })
      for (let count = 1; count < 31; count++) await open(scene.staff, parameters)
      return replyIf((await open(scene.staff, parameters)).status !== 429)
    } finally {
      await useProvider(scene.staff, scene.idp.url)
    }
  }),
  // The page is from before people had to log in.
  check('consent.ts', 'request.identity?.iss !== logInOf(issuer)?.issuer', async (scene) => {
    const other = await addIssuer(scene.agent, scene.staff.tenant)
    const { parameters } = await offered(other, { txCode: false })
    const page = await open(other, parameters)
    await useProvider(other, scene.idp.url)
    return answer(other, { request: sealedIn(page), decision: 'accept' })
  }),
]

export const logInChecks: Check[] = [...settings, ...returns, ...idTokens, ...admissions]
