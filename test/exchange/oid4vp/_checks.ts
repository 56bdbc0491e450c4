/** Checks of the verifier by their source, each with the attack that it stops. */
import { hash, webcrypto } from 'node:crypto'
import { CompactEncrypt, importJWK } from 'jose'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { check, replyIf, type Switch } from '../oid4vci/_mutants.ts'
import { x509 } from '../../../src/foundation/x509/issue.ts'
import { authority, constraints, type Options, slowKeys } from '../../foundation/x509/_chains.ts'
import {
  authorityKey,
  certifiedIssuer,
  identifiedAuthority,
  issueCertified,
  issuerNames,
  trust,
} from './_certified.ts'
import { answerTo, askedDigitally, submitFromPage, type AskedDigitally } from './_digital.ts'
import { startStatusList } from './_status-list.ts'
import {
  decodeJwt,
  holderKey,
  issueSdJwt,
  issuerDid,
  issuerKey,
  newVerifierDid,
  personQuery,
  present,
  presentationOf,
  presentSdJwt,
  readRequest,
  requestProof,
  respond,
  retypeCredential,
  signJwt,
  vct,
  type Presented,
  type RequestOptions,
  type Verifier,
} from './_wallet.ts'

export type Check = Switch & { attack: (verifier: Verifier) => Promise<Reply> }

/** Files of the checks. */
const anyFormat = 'src/credentials/formats/presentation.ts'
const jwtFormat = 'src/credentials/formats/jwt/presentation.ts'
const sdJwtFormat = 'src/credentials/formats/sd-jwt/presentation.ts'
const answers = 'src/wallet/verification/answer.ts'
const trustFile = 'src/wallet/verification/trust.ts'
const transactionData = 'src/wallet/verification/transaction-data.ts'
const path = 'src/foundation/x509/path.ts'
const nameConstraints = 'src/foundation/x509/name-constraints.ts'
const verifyChain = 'src/wallet/trust-anchors/verify-chain.ts'

const now = () => Math.floor(Date.now() / 1_000)
const [person] = personQuery.credentials as [(typeof personQuery.credentials)[0]]

async function asked(verifier: Verifier, options: RequestOptions = {}) {
  const { presentationId, openid4vp } = await requestProof(verifier, options)
  const request = await readRequest(openid4vp!.authorizationRequest)
  return { presentationId, pageUrl: openid4vp!.pageUrl, request }
}

/** Answers a request with a presentation that differs from a valid one. */
const presented =
  (presentation: Presented = {}, options: RequestOptions = {}) =>
  async (verifier: Verifier) => {
    const { request } = await asked(verifier, options)
    return present(request, { person: [await presentSdJwt(request, presentation)] })
  }

const requestedIssuers: Check[] = [
  check(
    trustFile,
    ['includesDid(accepted, issuer)', 'true'],
    presented({}, { issuers: ['did:web:other.example'] }),
  ),
  check(
    'requests.ts',
    ['issuers !== undefined || restrictsIssuers({ policy, query })', 'true'],
    ({ agent, tenant: { apiKey } }) =>
      ask(agent, 'POST /present-proof/presentations/openid4vp', {
        body: JSON.stringify({ dcqlQuery: personQuery }),
        apiKey,
      }),
  ),
]

const responses: Check[] = [
  check(
    'authorization-response.ts',
    'response.state === undefined || digestOf(response.state) !== digestOf(record.openid4vp.state)',
    async (verifier) => {
      const { request } = await asked(verifier)
      return present({ ...request, state: 'other' }, { person: [await presentSdJwt(request)] })
    },
  ),
  check(
    'authorization-response.ts',
    ['encryptionKey && (await findKey(wallet, id))', 'undefined'],
    presented({}, { responseMode: 'direct_post.jwt' }),
  ),
  check('authorization-response.ts', ['count <= maxPresentations', 'true'], async (verifier) => {
    const credentials = ['person', 'other'].map((id) => ({ ...person, id, multiple: true }))
    const { request } = await asked(verifier, { dcqlQuery: { credentials } })
    const many = (count: number) => Promise.all(Array.from({ length: count }, () => presentSdJwt(request)))
    return present(request, { person: await many(11), other: await many(10) })
  }),
  check('encryption.ts', 'protectedHeader.kid !== kid', encrypted({ kid: 'other' })),
  check('encryption.ts', ['contentEncryptionAlgorithms: encodings', ''], encrypted({ enc: 'A192GCM' })),
  check('response.ts', ['!isOver(record.openid4vp.expiresTime * 1_000)', 'true'], async (verifier) => {
    const { request, pageUrl } = await asked(verifier, { expiresIn: 1 })
    const presentation = await presentSdJwt(request)
    for (let state = ''; state !== 'expired';)
      ({ state } = (await (await fetch(pageUrl)).json()) as { state: string })
    return present(request, { person: [presentation] })
  }),
  check(answers, 'fault !== undefined', async (verifier) => {
    const dcqlQuery = { credentials: [person, { ...person, id: 'other' }] }
    const { request } = await asked(verifier, { dcqlQuery })
    return present(request, { person: [await presentSdJwt(request)] })
  }),
  check('session.ts', ['answer.digest === digest', 'true'], async (verifier) => {
    const { request } = await asked(verifier, { redirectUri: 'https://shop.example/done' })
    await present(request, { person: [await presentSdJwt(request)] })
    return present(request, { person: ['stolen~'] })
  }),
  check('session.ts', [".where('code_digest', '=', digestOf(code))", 'true'], async (verifier) => {
    const { presentationId, request } = await asked(verifier, { redirectUri: 'https://shop.example/done' })
    await present(request, { person: [await presentSdJwt(request)] })
    const body = JSON.stringify({ responseCode: 'guessed' })
    const path = `/present-proof/presentations/${presentationId}/response-code`
    return ask(verifier.agent, `POST ${path}`, { body, apiKey: verifier.tenant.apiKey })
  }),
]

/** Answers a request from its page with a presentation for an origin, or a client id. */
const fromPage =
  (
    toAnswer: (asked: AskedDigitally, own: string) => { origin?: string; aud?: string; protocol?: string },
  ): Check['attack'] =>
  async (verifier) => {
    const { origin: own } = new URL(verifier.agent.url)
    const asked = await askedDigitally(verifier, { origins: [own] })
    const { origin = own, aud = `origin:${origin}`, protocol = asked.protocol } = toAnswer(asked, own)
    const answer = await answerTo(asked.request, origin, { binding: { aud } })
    return submitFromPage({ ...asked, protocol }, answer, origin)
  }

const digital: Check[] = [
  check(
    'digital-response.ts',
    '!origins.includes(origin)',
    fromPage(() => ({ origin: 'https://localhost' })),
  ),
  check(
    'digital-response.ts',
    '!protocols.includes(protocol)',
    fromPage(() => ({ protocol: 'openid4vp-v1-signed' })),
  ),
  check(
    'digital-response.ts',
    ['audienceOf(origin)', 'record.openid4vp.clientId'],
    fromPage(({ openid4vp }) => ({ aud: openid4vp.clientId })),
  ),
  check('authorization-request.ts', 'openid4vp.directPost === false', async (verifier) => {
    const options = { did: await newVerifierDid(verifier), directPost: false }
    const { pageUrl } = await askedDigitally(verifier, options)
    const reply = await ask({ url: '' }, `GET ${pageUrl.replace(/\/page$/, '')}`)
    if (reply.status !== 200) return reply
    const request = decodeJwt(reply.body).payload
    return present(request, { person: [await presentSdJwt(request)] })
  }),
]

function encrypted({ kid, enc = 'A128GCM' }: { kid?: string; enc?: string }): Check['attack'] {
  return async (verifier) => {
    const { request } = await asked(verifier, { responseMode: 'direct_post.jwt' })
    const [key] = request.client_metadata.jwks.keys
    const content = { vp_token: { person: [await presentSdJwt(request)] }, state: request.state }
    const response = await new CompactEncrypt(Buffer.from(JSON.stringify(content)))
      .setProtectedHeader({ alg: 'ECDH-ES', enc, kid: kid ?? key.kid })
      .encrypt(await importJWK(key, 'ECDH-ES'))
    return respond(request, { response })
  }
}

const presentations: Check[] = [
  check(
    anyFormat,
    '!audiences.includes(audience)',
    presented({ binding: { aud: 'redirect_uri:https://other.example' } }),
  ),
  check(
    anyFormat,
    'answer.nonce === undefined || answer.nonce !== nonce',
    presented({ binding: { nonce: 'other' } }),
  ),
  check(
    anyFormat,
    ['checkValidity(toValidity([iat, answer.nbf], [answer.exp]), options.now, leewaySeconds)', 'undefined'],
    presented({ binding: { iat: now() + 3_600 } }),
  ),
  check(
    anyFormat,
    'iat !== undefined && requestedAt !== undefined && iat < requestedAt - leewaySeconds',
    presented({ binding: { iat: now() - 3_600 } }),
  ),
  check(answers, '!match.isMatch', presented({ issued: { payload: { vct: 'urn:other' } } })),
  check(sdJwtFormat, ['if (requiresVcType) requireVcType(read.jws)', ''], async (verifier) =>
    presented({ credential: retypeCredential(await issueSdJwt(), 'JWT') })(verifier),
  ),
  check(
    'src/credentials/dcql/path.ts',
    ['array.slice(component, component + 1)', 'array.slice(0, component + 1)'],
    presented(
      { issued: { payload: { nationalities: ['DE', 'FR'] } }, claims: [] },
      {
        dcqlQuery: { credentials: [{ ...person, claims: [{ path: ['nationalities', 1], values: ['DE'] }] }] },
      },
    ),
  ),
  check('src/credentials/dcql/path.ts', 'steps > maxSteps', async (verifier) => {
    const list = Array.from({ length: 9_000 }, () => 1)
    const expensive = list
      .slice(0, 50)
      .map((_, index) => ({ id: `c${index}`, path: ['list', null, `${index}`] }))
    const claims = [{ id: 'name', path: ['name'] }, ...expensive]
    const dcqlQuery = { credentials: [{ ...person, claims, claim_sets: [['name']] }] }
    return presented({ issued: { payload: { list } } }, { dcqlQuery })(verifier)
  }),
  check(
    answers,
    ['checkDisclosures(disclosures, query)', 'undefined'],
    presented({ claims: ['name', 'age'] }),
  ),
  check(answers, ['checkPolicy(constraints, [decoded])', 'undefined'], async (verifier) => {
    const constraints = [{ schemaId: vct, trustedIssuers: ['did:web:government.example'] }]
    const body = { name: 'persons', description: '', constraints }
    const { id: policyId } = await verifier.tenant.call('POST /verification/policies', { body })
    return presented({}, { policyId })(verifier)
  }),
  check(
    sdJwtFormat,
    ['checkKeyBinding(read, resolve)', 'undefined'],
    presented({ key: generateKey('P-256') }),
  ),
  check(
    anyFormat,
    ['checkValidity(decoded, options.now, options.leewaySeconds)', 'undefined'],
    presented({ issued: { payload: { exp: now() - 3_600 } } }),
  ),
  check(
    anyFormat,
    ['signed.check(options)', 'Promise.resolve()'],
    presented({ issued: { key: generateKey('P-256') } }),
  ),
  check(
    'src/credentials/codecs/verify.ts',
    ['await establishStatus(status, credential, checkStatus)', 'undefined'],
    presented({ issued: { payload: { status: { status_list: { idx: 0, uri: 'not a URL' } } } } }),
  ),
]

const payment = { type: 'payment', credential_ids: ['person'], amount: '10.00 EUR' }
const authorizing =
  (transaction: object, changes: object = {}): Check['attack'] =>
  async (verifier) => {
    const credentials = [person, { ...person, id: 'other' }]
    const { request } = await asked(verifier, { dcqlQuery: { credentials }, transactionData: [transaction] })
    const hashes = [hash('sha256', request.transaction_data[0], 'base64url')]
    const binding = { transaction_data_hashes: hashes, ...changes }
    const vps = { other: [await presentSdJwt(request, { binding })], person: [await presentSdJwt(request)] }
    return present(request, vps)
  }
const strong = { ...payment, credential_ids: ['other'], transaction_data_hashes_alg: ['sha-512'] }

const transactions: Check[] = [
  check(transactionData, ['ids.includes(credentialId)', 'true'], authorizing(payment)),
  check(
    transactionData,
    ['(allowed ?? [defaultAlgorithm]).includes(algorithm as Algorithm)', 'true'],
    authorizing(strong, { transaction_data_hashes_alg: 'sha-256' }),
  ),
  check(transactionData, ['allowed === undefined', 'true'], authorizing(strong)),
  check(transactionData, 'count !== 1', authorizing(payment, { transaction_data_hashes: undefined })),
]

const holderDid = createJwkDid(toPublic(holderKey))
const jwtQuery = {
  credentials: [{ id: 'person', format: 'jwt_vc_json', meta: { type_values: [['VerifiableCredential']] } }],
}

type JwtParts = { key?: typeof holderKey; iss?: string; vp?: object; subject?: string; count?: number }

/** Answers with a JWT presentation that differs from a valid one. */
function presentedJwt({ key = holderKey, iss = holderDid, vp, subject = holderDid, count = 1 }: JwtParts) {
  return async (verifier: Verifier, options: RequestOptions = {}) => {
    const { request } = await asked(verifier, { dcqlQuery: jwtQuery, ...options })
    const base = { '@context': ['https://www.w3.org/2018/credentials/v1'], type: ['VerifiableCredential'] }
    const vc = { ...base, credentialSubject: { id: subject } }
    const claims = { iss: issuerDid, sub: subject, nbf: now() - 60, vc }
    const credential = signJwt({ typ: 'JWT' }, claims, issuerKey)
    const verifiableCredential = Array.from({ length: count }, () => credential)
    const content = { ...base, type: ['VerifiablePresentation'], verifiableCredential, ...vp }
    const payload = { iss, aud: request.client_id, nonce: request.nonce, vp: content }
    return present(request, { person: [signJwt({ typ: 'JWT' }, payload, key)] })
  }
}

const thief = generateKey('P-256')
const jwts: Check[] = [
  check(jwtFormat, 'tokens.length < least || tokens.length > most', presentedJwt({ count: 2 })),
  check(
    jwtFormat,
    ["checkHolderIs(iss, named, 'The holder of the presentation is')", 'undefined'],
    presentedJwt({ vp: { holder: 'did:web:other.example' } }),
  ),
  check(
    jwtFormat,
    ["checkHolderIs(iss, subject, 'The subject of the credential is')", 'undefined'],
    presentedJwt({ key: thief, iss: createJwkDid(toPublic(thief)) }),
  ),
  check(
    jwtFormat,
    ["await checkSignature(vp.jws, { did: iss, role: 'holder' }, resolve)", 'undefined'],
    presentedJwt({ key: thief }),
  ),
  check(answers, ['policy?.constraints ?? []', '[]'], async (verifier) => {
    const constraints = [{ schemaId: 'https://schemas.example/person', trustedIssuers: [] }]
    const body = { name: 'persons', description: '', constraints }
    const { id: policyId } = await verifier.tenant.call('POST /verification/policies', { body })
    return presentedJwt({})(verifier, { policyId })
  }),
]

/** Answers with a credential of an issuer with certificates, of a new root that is trusted. */
const certified =
  (toIssuer: (root: Root) => ReturnType<typeof certifiedIssuer>, payload = {}) =>
  async (verifier: Verifier, options: RequestOptions = {}) => {
    const root = await identifiedAuthority(`CN=Root ${crypto.randomUUID()}`)
    await trust(verifier, root)
    const credential = await issueCertified(await toIssuer(root), { payload })
    return presented({ credential }, options)(verifier)
  }

const statusNames = [{ type: 'url' as const, value: 'https://status.example' }]
const forStatusLists = () => new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.30'], true)

type Root = Awaited<ReturnType<typeof identifiedAuthority>>

/** Answers with a credential whose status list another certificate signs. */
const listed =
  (toSigner: (root: Root, verifier: Verifier) => ReturnType<typeof certifiedIssuer>) =>
  async (verifier: Verifier) => {
    const root = await identifiedAuthority(`CN=Root ${crypto.randomUUID()}`)
    await trust(verifier, root)
    const signer = await toSigner(root, verifier)
    await using list = await startStatusList(() => ({ ...signer, issuer: statusNames[0]!.value }))
    const credential = await issueCertified(await certifiedIssuer(root), { payload: list.payloadOf(1) })
    return await presented({ credential })(verifier)
  }

/** Answers with a credential of an issuer with these names, below an authority with constraints on DNS names. */
const constrained = (permitted: string[], excluded: string[], names: NonNullable<Options['names']>) =>
  certified(async (root) => {
    const middle = await authority('CN=Middle', root, { extensions: [constraints(permitted, excluded)] })
    return certifiedIssuer(middle, { names }, [middle])
  })

const issuers: Check[] = [
  check(
    trustFile,
    '!isByAuthority({ authorityKeyIds }, asked)',
    presented(
      {},
      {
        dcqlQuery: {
          credentials: [{ ...person, trusted_authorities: [{ type: 'aki', values: ['bm9uZQ'] }] }],
        },
      },
    ),
  ),
  check(trustFile, ['await isTrustedDid(db, issuer)', 'true'], presented({}, { issuers: 'trusted' })),
  check(
    trustFile,
    'named.length > 0 && !authorityKeyIds.some((each) => named.includes(each))',
    async (verifier) => {
      const tenant = await verifier.agent.newTenant()
      await tenant.call('POST /trust-anchors', { body: { type: 'aki', value: 'bm9uZQ' } })
      return certified((root) => certifiedIssuer(root))({ ...verifier, tenant }, { issuers: 'trusted' })
    },
  ),
  check(sdJwtFormat, ["'iss' in processed && { iss: issuer }", '{}'], (verifier) => {
    const iss = 'https://bank.example'
    const claims = [{ path: ['name'] }, { path: ['iss'], values: [iss] }]
    const dcqlQuery = { credentials: [{ ...person, claims }] }
    return certified((root) => certifiedIssuer(root), { iss })(verifier, { dcqlQuery })
  }),
  check(
    'src/credentials/codecs/x509-issuer.ts',
    ["url.username + url.password === ''", 'true'],
    (verifier) => {
      const iss = 'https://bank.example@issuer.example'
      const claims = [{ path: ['name'] }, { path: ['iss'], values: [iss] }]
      const dcqlQuery = { credentials: [{ ...person, claims }] }
      const names = [{ type: 'dns', value: 'issuer.example' }] as const
      return certified((root) => certifiedIssuer(root, { names: [...names] }), { iss })(verifier, {
        dcqlQuery,
      })
    },
  ),
  check(
    verifyChain,
    ['isIssuer(x5c, certificate, issuer)', 'true'],
    listed((root) => certifiedIssuer(root, { names: statusNames })),
  ),
  check(
    verifyChain,
    ['certificate.isStatusIssuer', 'true'],
    listed((root) => certifiedIssuer(root, { names: statusNames })),
  ),
  check(
    verifyChain,
    ['certificate.anchor === anchor', 'true'],
    listed(async (_, verifier) => {
      const other = await authority('CN=Other')
      await trust(verifier, other)
      return certifiedIssuer(other, { names: statusNames, extensions: [forStatusLists()] })
    }),
  ),
  check(
    path,
    'extended?.critical === true && !roles.some((role) => isFor(role))',
    certified((root) => certifiedIssuer(root, { extensions: [authorityKey(root), forStatusLists()] })),
  ),
  check(
    path,
    'publicExponent === undefined || publicExponent >= tooLargeExponent',
    certified(async (root) => {
      const middle = await authority('CN=Slow', root, { keys: await slowKeys(2_048) })
      return certifiedIssuer(middle, {}, [middle])
    }),
  ),
  check(
    path,
    'bits < leastRsaBits || bits > maxRsaBits',
    certified(async (root) => {
      const keys = await webcrypto.subtle.generateKey(
        {
          name: 'RSASSA-PKCS1-v1_5',
          modulusLength: 1_024,
          publicExponent: Uint8Array.of(1, 0, 1),
          hash: 'SHA-256',
        },
        true,
        ['sign', 'verify'],
      )
      const middle = await authority('CN=Weak', root, { keys })
      return certifiedIssuer(middle, {}, [middle])
    }),
  ),
  check(
    nameConstraints,
    ['own.length > 0 ? own : of(permitted, hostForms)', 'own'],
    constrained(['mine.example'], [], issuerNames),
  ),
  check(
    nameConstraints,
    ['of(excluded, hostForms)', 'of(excluded, [form])'],
    constrained([], ['issuer.example'], issuerNames),
  ),
  check(
    nameConstraints,
    ["host.toLowerCase().replace(/\\.$/, '')", 'host.toLowerCase()'],
    constrained([], ['issuer.example.'], issuerNames),
  ),
  check(
    nameConstraints,
    'comparisons > maxComparisons',
    constrained(
      [],
      Array.from({ length: 400 }, (_, n) => `${n}.example`),
      Array.from({ length: 400 }, (_, n) => ({ type: 'dns', value: `a${n}.example` })),
    ),
  ),
  check(
    'src/foundation/x509/x5c.ts',
    ['findPath({ x5c: chain, read }, anchors.flatMap(readTrusted), at, role)', 'chain.map(parseMember)'],
    certified(async () => certifiedIssuer(await authority('CN=Stranger'))),
  ),
  check(
    path,
    'named !== undefined && keyId !== undefined && named !== keyId',
    certified((root) =>
      certifiedIssuer(root, { names: issuerNames, extensions: [authorityKey({ keyId: 'b3RoZXI' })] }),
    ),
  ),
  check(
    'src/credentials/codecs/issuer-signature.ts',
    '!isSignedBy(jws, publicKeyJwk)',
    certified(async (root) => ({ ...(await certifiedIssuer(root)), key: generateKey('P-256') })),
  ),
]

/** Limits of what whoever has the link of a request makes the wallet of the verifier store. */
const strangers: Check[] = [
  check('response.ts', "if (record.state !== 'RequestCreated') return", async (verifier) => {
    const { presentationId, request } = await asked(verifier)
    await present(request, { person: [await presentSdJwt(request)] })
    await respond(request, { vp_token: '{}', state: 'wrong' })
    const { thid } = await presentationOf(verifier, presentationId)
    const { agent, tenant } = verifier
    const refused = await agent.agent.wallets.use(tenant.walletId, ({ db }) =>
      db.selectFrom('message_log').select('sequence').where('thread', '=', thid).execute(),
    )
    return replyIf(refused.length > 0)
  }),
  check('response.ts', ['sum <= longestRefused', 'true'], async (verifier) => {
    const { presentationId, request } = await asked(verifier)
    const large = { payload: { more: 'a'.repeat(20_000) } }
    await present(request, {
      person: [await presentSdJwt(request, { issued: large, binding: { nonce: 'other' } })],
    })
    const { data } = await presentationOf(verifier, presentationId)
    return replyIf(data.length > 0)
  }),
]

export const checks: Check[] = [
  ...requestedIssuers,
  ...responses,
  ...strangers,
  ...digital,
  ...presentations,
  ...transactions,
  ...jwts,
  ...issuers,
]
