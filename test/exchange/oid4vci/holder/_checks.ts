/** Checks of the wallet as holder of OpenID4VCI, each with an attack of an issuer or its server that it stops. */
import { integrityOf } from '../../../../src/credentials/codecs/sd-jwt/type-metadata.ts'
import { generateKey, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { ProblemError } from '../../../../daemon/client/call.ts'
import type { Tenant } from '../../../support/tenants.ts'
import { until } from '../../../support/tenants.ts'
import { check, type Switch } from '../_mutants.ts'
import { accept, acceptOffer, receive, show } from './_holder.ts'
import { givesRefreshTokens, refresh, renewalOf, renewed } from './_refresh.ts'
import { keysIn, withCode, withTxCode, type FakeIssuer } from './_issuer.ts'

export type Scene = { holder: Tenant; issuer: FakeIssuer; other: FakeIssuer }

/** `attack` tells whether the attack succeeds. */
export type Check = Switch & { attack: (scene: Scene) => Promise<boolean> }

/** Whether a call succeeds. Errors of the agent itself are not refusals. */
export async function succeeds(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status !== 500) return false
    throw error
  }
}

const thief = generateKey('P-256')

const received = ({ holder }: Scene, offer: string, more: object = {}) =>
  succeeds(receive(holder, offer, more))

/** Whether a credential is received after the offer was accepted. */
async function issued(
  { holder }: Scene,
  offer: string,
  { txCode, ...more }: { txCode?: string; copies?: number } = {},
) {
  const { recordId } = await receive(holder, offer, more)
  if (!(await succeeds(accept(holder, recordId, txCode)))) return false
  const ends = ['CredentialReceived', 'IssuanceFailed']
  const { protocolState } = await until(
    'the end of the issuance',
    () => show(holder, recordId),
    (record) => ends.includes(record.protocolState),
  )
  return protocolState === 'CredentialReceived'
}

/** The issuer has other members in its metadata, or in those of `Licence`. */
function describe({ issuer }: Scene, members: object, licence: object = {}): void {
  const { Licence, ...others } = issuer.metadata.credential_configurations_supported
  const configurations = { ...others, Licence: { ...Licence, ...licence } }
  const body = { ...issuer.metadata, credential_configurations_supported: configurations, ...members }
  issuer.on('openid-credential-issuer', () => ({ body }))
}

const offers: Check[] = [
  check('offer.ts', 'searchParams.getAll(name).length > 1', (scene) => {
    const value = encodeURIComponent(scene.issuer.offer())
    return received(scene, `openid-credential-offer://?credential_offer=${value}&credential_offer=${value}`)
  }),
  check('offer.ts', 'value !== undefined && reference !== undefined', (scene) => {
    const value = encodeURIComponent(scene.issuer.offer())
    return received(scene, `openid-credential-offer://?credential_offer=${value}&credential_offer_uri=a`)
  }),
  check('receive-offer.ts', '!offered.includes(id)', (scene) =>
    received(scene, scene.issuer.offer(), { credentialConfigurationId: 'Person' }),
  ),
  check('receive-offer.ts', ["isOffered || (grant === 'authorization_code' && isFree)", 'true'], (scene) =>
    received(scene, scene.issuer.offer(), { grant: 'authorization_code' }),
  ),
  // A wrong transaction code that is sent twice costs two guesses.
  check('one-at-a-time.ts', 'if (step.request === text) return step.outcome', async ({ holder, issuer }) => {
    issuer.on('token', () => ({ status: 400, body: { error: 'invalid_grant' } }))
    const { recordId } = await receive(holder, issuer.offer('Licence', withTxCode({})))
    await Promise.all([1, 2].map(() => succeeds(accept(holder, recordId, '1234'))))
    return issuer.at('token').length > 1
  }),
  check('support.ts', 'wanted > most', (scene) => received(scene, scene.issuer.offer(), { copies: 2 })),
]

const metadata: Check[] = [
  check('caller.ts', "parsed && parsed.username + parsed.password !== ''", (scene) => {
    const { issuer } = scene
    const named = (url: string) => url.replace('://', '://trusted.example@')
    issuer.on('oauth-authorization-server', () => ({
      body: { ...issuer.authorization, issuer: named(issuer.identifier) },
    }))
    describe(scene, {
      credential_issuer: named(issuer.identifier),
      credential_endpoint: named(issuer.metadata.credential_endpoint),
    })
    const { grants, ...offer } = JSON.parse(issuer.offer())
    return received(scene, JSON.stringify({ ...offer, grants, credential_issuer: named(issuer.identifier) }))
  }),
  check(
    'caller.ts',
    ["parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isAllowed)", 'true'],
    (scene) => {
      describe(scene, { credential_endpoint: 'http://thief.example/credential' })
      return received(scene, scene.issuer.offer())
    },
  ),
  check('discovery.ts', '!isSameIssuer(metadata.credential_issuer, identifier)', (scene) => {
    scene.issuer.on('openid-credential-issuer', () => ({ body: scene.other.metadata }))
    return received(scene, scene.issuer.offer())
  }),
  check('discovery.ts', '!isSameIssuer(metadata.issuer, identifier)', (scene) => {
    scene.issuer.on('oauth-authorization-server', () => ({ body: scene.other.authorization }))
    return received(scene, scene.issuer.offer())
  }),
  check(
    'discovery.ts',
    'named !== undefined && !servers.some((each) => isSameIssuer(each, named))',
    (scene) => {
      const named = withCode({ authorization_server: scene.other.identifier })
      return received(scene, scene.issuer.offer('Licence', named))
    },
  ),
  check('support.ts', '!chosen.proof_signing_alg_values_supported.includes(dpopAlgorithm)', (scene) => {
    const proof_types_supported = { jwt: { proof_signing_alg_values_supported: ['RS256'] } }
    describe(scene, {}, { proof_types_supported })
    return received(scene, scene.issuer.offer())
  }),
  check('support.ts', ['!attestsClient && !isKeyAttested', 'true'], (scene) => {
    const methods = { token_endpoint_auth_methods_supported: ['attest_jwt_client_auth'] }
    scene.issuer.on('oauth-authorization-server', () => ({
      body: { ...scene.issuer.authorization, ...methods },
    }))
    return received(scene, scene.issuer.offer())
  }),
]

const token = (reply: { status?: number; body: object }, text: string, off = 'false'): Check => ({
  file: 'token.ts',
  text,
  off,
  attack: (scene) => {
    scene.issuer.on('token', () => reply)
    return issued(scene, scene.issuer.offer())
  },
})

const tokens: Check[] = [
  token(
    { body: { access_token: 'a', token_type: 'mac' } },
    "!isBound && response.token_type.toLowerCase() !== 'bearer'",
  ),
  token({ body: { access_token: 'a', token_type: 'DPoP' } }, 'isBound && !dpopKey'),
  check(
    'token.ts',
    [
      "z\n    .string()\n    .max(100_000)\n    .regex(/^[\\x21-\\x7e]+$/, 'must consist of visible ASCII characters')",
      'any',
    ],
    async (scene) => {
      scene.issuer.on('token', () => ({ body: { access_token: 'a\r\nb: c', token_type: 'Bearer' } }))
      const { recordId } = await receive(scene.holder, scene.issuer.offer())
      return succeeds(accept(scene.holder, recordId))
    },
  ),
  check('token.ts', '!txCode && given !== undefined', (scene) =>
    issued(scene, scene.issuer.offer(), { txCode: '123456' }),
  ),
  check('token.ts', 'given === undefined', (scene) =>
    issued(scene, scene.issuer.offer('Licence', withTxCode({ input_mode: 'text' }))),
  ),
  check('token.ts', 'length !== undefined && given.length !== length', (scene) =>
    issued(scene, scene.issuer.offer('Licence', withTxCode({ length: 6 })), { txCode: '1' }),
  ),
  check('token.ts', "inputMode === 'numeric' && !/^\\d+$/.test(given)", (scene) =>
    issued(scene, scene.issuer.offer('Licence', withTxCode({})), { txCode: 'a' }),
  ),
]

/** Begins an authorization, and completes it with other parameters than those of its redirect. */
const completed =
  (changes: (scene: Scene) => object, redirectUri = 'https://wallet.example/cb') =>
  async (scene: Scene) => {
    const { holder, issuer } = scene
    const { recordId } = await receive(
      holder,
      issuer.offer('Licence', { grants: { authorization_code: {} } }),
    )
    const path = { recordId }
    const begin = 'POST /issue-credentials/records/{recordId}/begin-authorization'
    if (!(await succeeds(holder.call(begin, { path, body: { redirectUri } })))) return false
    const { openid4vci } = await show(holder, recordId)
    const state = new URL(openid4vci!.authorizationUrl!).searchParams.get('state')!
    const body = { code: 'code', state, iss: issuer.identifier, ...changes(scene) }
    return succeeds(
      holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', { path, body }),
    )
  }

const authorizations: Check[] = [
  check(
    'authorization.ts',
    'fault !== undefined',
    completed(() => ({}), 'http://wallet.example/cb'),
  ),
  check(
    'authorization.ts',
    'response.state !== state',
    completed(() => ({ state: 'other' })),
  ),
  check(
    'authorization.ts',
    ['iss === authorizationServer || (iss === undefined && !namesIssuer)', 'true'],
    completed(({ other }) => ({ iss: other.identifier })),
  ),
]

const credential = (
  check: Omit<Switch, 'file'> & { file?: string },
  reply: (body: string, scene: Scene) => { status?: number; body: unknown },
  { copies = 1, prepare = () => {}, configuration = 'Licence' }: Options = {},
): Check => ({
  file: 'check.ts',
  ...check,
  attack: (scene) => {
    prepare(scene)
    scene.issuer.on('credential', ({ body }) => reply(body, scene))
    return issued(scene, scene.issuer.offer(configuration), copies > 1 ? { copies } : {})
  },
})
type Options = { copies?: number; prepare?: (scene: Scene) => void; configuration?: 'Licence' | 'Person' }

const sdJwt = 'src/credentials/formats/sd-jwt/format.ts'
const one = (text: string) => ({ credentials: [{ credential: text }] })
const inBatches = (scene: Scene) => describe(scene, { batch_credential_issuance: { batch_size: 2 } })

/** Type metadata of the issuer with a rule that its credential breaks. */
const strictType = (vct: string) =>
  JSON.stringify({ vct, claims: [{ path: ['family_name'], mandatory: true }] })

/** The credential has the digest of its strict type. */
const ofStrictType = (body: string, { issuer }: Scene) => {
  const vct = `${issuer.identifier}/type`
  const integrity = integrityOf(Buffer.from(strictType(vct)))
  return { body: one(issuer.issue(body, { vct, integrity })) }
}

const withStrictType = (scene: Scene) => {
  const vct = `${scene.issuer.identifier}/type`
  scene.issuer.on('type', () => ({ body: strictType(vct) }))
  describe(scene, {}, { vct })
}

const credentials: Check[] = [
  credential(
    { file: 'look.ts', text: 'typeMetadata.check(credential, type)', off: 'undefined' },
    ofStrictType,
    { prepare: withStrictType },
  ),
  credential({ file: sdJwt, text: 'vct !== offered', off: 'false' }, (body, { issuer }) => ({
    body: one(issuer.issue(body, { vct: 'https://issuer.example/other' })),
  })),
  credential(
    { file: sdJwt, text: 'requireVcType(decoded.signed)', off: 'undefined' },
    (body, { issuer }) => ({
      body: one(issuer.issue(body, { typ: 'JWT' })),
    }),
  ),
  credential({ text: 'format.isBoundTo(decoded, each)', off: 'true' }, (body, { issuer }) => ({
    body: one(issuer.issue(body, { holderKey: toPublic(thief) })),
  })),
  credential(
    { file: 'src/credentials/formats/jwt/format.ts', text: 'missing !== undefined', off: 'false' },
    (body, { issuer }) => ({ body: one(issuer.issue(body)) }),
    {
      configuration: 'Person',
      prepare: (scene) => {
        const metadata = structuredClone(scene.issuer.metadata)
        metadata.credential_configurations_supported.Person.credential_definition.type.push('Licence')
        scene.issuer.on('openid-credential-issuer', () => ({ body: metadata }))
      },
    },
  ),
  credential(
    { text: '!binding && !openIdTraits(id).isBoundToDid', off: 'false' },
    (_, { issuer }) => {
      const request = { credential_configuration_id: 'Licence', proofs: {} }
      return { body: one(issuer.issue(JSON.stringify(request), { holderKey: toPublic(thief) })) }
    },
    {
      prepare: (scene) =>
        describe(
          scene,
          {},
          { cryptographic_binding_methods_supported: undefined, proof_types_supported: undefined },
        ),
    },
  ),
  credential(
    { text: 'checked.every((other) => other.key !== key)', off: 'true' },
    (body, { issuer }) => ({
      body: { credentials: [1, 2].map(() => ({ credential: issuer.issue(body) })) },
    }),
    { copies: 2, prepare: inBatches },
  ),
  credential(
    { text: 'each.issuer !== first.issuer || !isDeepStrictEqual(each.claims, first.claims)', off: 'false' },
    (body, { issuer }) => {
      const copies = keysIn(JSON.parse(body)).map((holderKey, index) =>
        issuer.issue(body, { holderKey, name: `Alice ${index}` }),
      )
      return { body: { credentials: copies.map((text) => ({ credential: text })) } }
    },
    { copies: 2, prepare: inBatches },
  ),
  credential(
    {
      file: 'caller.ts',
      text: 'answer.status >= 300',
      off: 'false',
    },
    (body, { issuer }) => ({ status: 400, body: one(issuer.issue(body)) }),
  ),
  credential(
    {
      file: 'credential-request.ts',
      text: 'known !== undefined && transactionId !== known',
      off: 'false',
    },
    () => ({ status: 202, body: { transaction_id: 'one', interval: 1 } }),
    {
      prepare: ({ issuer }) => {
        issuer.on('deferred', () =>
          issuer.at('deferred').length === 1
            ? { status: 202, body: { transaction_id: 'two', interval: 1 } }
            : { body: one(issuer.issue(issuer.at('credential')[0]!.body)) },
        )
      },
    },
  ),
]

/** Whether a credential is renewed by an issuer whose later answers `attack` changes. */
const renewing =
  (attack: (scene: Scene) => void) =>
  async (scene: Scene): Promise<boolean> => {
    const { holder, issuer } = scene
    givesRefreshTokens(issuer)
    const details = (identifier: string) => ({
      authorization_details: [{ type: 'openid_credential', credential_identifiers: [identifier] }],
    })
    change(issuer, 'token', () => details('licence'))
    const { recordId } = await acceptOffer(holder, issuer.offer())
    attack(scene)
    await refresh(holder, recordId)
    const record = await renewed(holder, recordId)
    return renewalOf(record).count === 1
  }

/** Changes members of the answers of an endpoint. */
function change(issuer: FakeIssuer, name: string, members: (body: string) => object): void {
  const answer = issuer.answerOf(name)
  issuer.on(name, async (seen, usual) => {
    const { body, ...reply } = await answer(seen, usual)
    return { ...reply, body: { ...(body as object), ...members(seen.body) } }
  })
}

const renewals: Check[] = [
  check(
    'refresh-token.ts',
    'token_type.toLowerCase() !== expected.toLowerCase()',
    renewing(({ issuer }) => change(issuer, 'token', () => ({ token_type: 'Bearer' }))),
  ),
  check(
    'refresh-token.ts',
    ['identifiers.includes(known)', 'true'],
    renewing(({ issuer }) => {
      const authorization_details = [{ type: 'openid_credential', credential_identifiers: ['other'] }]
      change(issuer, 'token', () => ({ authorization_details }))
    }),
  ),
  check(
    'renewal.ts',
    'checked[0]!.issuer !== (await issuerOf(wallet, id))',
    renewing(({ issuer, other }) => change(issuer, 'credential', (body) => one(other.issue(body)))),
  ),
]

export const checks = [...offers, ...metadata, ...tokens, ...authorizations, ...credentials, ...renewals]
