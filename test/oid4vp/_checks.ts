/** Checks of the verifier by their source, each with the attack that it stops. */
import { hash, webcrypto } from 'node:crypto'
import { CompactEncrypt, importJWK } from 'jose'
import { generateKey, toPublic } from '../../src/crypto/keys.ts'
import { createJwkDid } from '../../src/did/jwk.ts'
import { ask, type Reply } from '../_ask.ts'
import { replyIf, type Switch } from '../oid4vci/_mutants.ts'
import { x509 } from '../../src/x509/issue.ts'
import { authority, constraints, type Options, slowKeys } from '../x509/_chains.ts'
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

const now = () => Math.floor(Date.now() / 1_000)
const [person] = personQuery.credentials as [(typeof personQuery.credentials)[0]]

async function asked(verifier: Verifier, options: RequestOptions = {}) {
  const { presentationId, openid4vp } = await requestProof(verifier, options)
  const request = await readRequest(openid4vp!.authorizationRequest)
  return { presentationId, pageUrl: openid4vp!.pageUrl, request }
}

/** Answers a request with a presentation that differs from a valid one. */
const presented =
  (toPresented: () => Presented | Promise<Presented>, options: RequestOptions = {}) =>
  async (verifier: Verifier) => {
    const { request } = await asked(verifier, options)
    return present(request, { person: [await presentSdJwt(request, await toPresented())] })
  }

const requestedIssuers: Check[] = [
  {
    file: 'src/presentation/trust.ts',
    text: 'includesDid(accepted, issuer)',
    off: 'true',
    attack: presented(() => ({}), { issuers: ['did:web:other.example'] }),
  },
  {
    file: 'requests.ts',
    text: 'issuers !== undefined || restrictsIssuers({ policy, query })',
    off: 'true',
    attack: ({ agent, tenant: { apiKey } }) =>
      ask(agent, 'POST /present-proof/presentations/openid4vp', {
        body: JSON.stringify({ dcqlQuery: personQuery }),
        apiKey,
      }),
  },
]

const responses: Check[] = [
  {
    file: 'authorization-response.ts',
    text: 'response.state === undefined || digestOf(response.state) !== digestOf(record.openid4vp.state)',
    off: 'false',
    attack: async (verifier) => {
      const { request } = await asked(verifier)
      return present({ ...request, state: 'other' }, { person: [await presentSdJwt(request)] })
    },
  },
  {
    file: 'authorization-response.ts',
    text: 'encryptionKey && (await findKey(wallet, id))',
    off: 'undefined',
    attack: presented(() => ({}), { responseMode: 'direct_post.jwt' }),
  },
  {
    file: 'authorization-response.ts',
    text: 'count <= mostPresentations',
    off: 'true',
    attack: async (verifier) => {
      const credentials = ['person', 'other'].map((id) => ({ ...person, id, multiple: true }))
      const { request } = await asked(verifier, { dcqlQuery: { credentials } })
      const many = (count: number) => Promise.all(Array.from({ length: count }, () => presentSdJwt(request)))
      return present(request, { person: await many(11), other: await many(10) })
    },
  },
  {
    file: 'encryption.ts',
    text: 'protectedHeader.kid !== kid',
    off: 'false',
    attack: encrypted({ kid: 'other' }),
  },
  {
    file: 'encryption.ts',
    text: 'contentEncryptionAlgorithms: encodings',
    off: '',
    attack: encrypted({ enc: 'A192GCM' }),
  },
  {
    file: 'response.ts',
    text: '!isOver(record.openid4vp.expiresTime * 1_000)',
    off: 'true',
    attack: async (verifier) => {
      const { request, pageUrl } = await asked(verifier, { expiresIn: 1 })
      const presentation = await presentSdJwt(request)
      for (let state = ''; state !== 'expired';)
        ({ state } = (await (await fetch(pageUrl)).json()) as { state: string })
      return present(request, { person: [presentation] })
    },
  },
  {
    file: 'src/presentation/answer.ts',
    text: 'fault !== undefined',
    off: 'false',
    attack: async (verifier) => {
      const dcqlQuery = { credentials: [person, { ...person, id: 'other' }] }
      const { request } = await asked(verifier, { dcqlQuery })
      return present(request, { person: [await presentSdJwt(request)] })
    },
  },
  {
    file: 'session.ts',
    text: 'answer.digest === digest',
    off: 'true',
    attack: async (verifier) => {
      const { request } = await asked(verifier, { redirectUri: 'https://shop.example/done' })
      await present(request, { person: [await presentSdJwt(request)] })
      return present(request, { person: ['stolen~'] })
    },
  },
  {
    file: 'session.ts',
    text: ".where('code_digest', '=', digestOf(code))",
    off: 'true',
    attack: async (verifier) => {
      const { presentationId, request } = await asked(verifier, { redirectUri: 'https://shop.example/done' })
      await present(request, { person: [await presentSdJwt(request)] })
      const body = JSON.stringify({ responseCode: 'guessed' })
      const path = `/present-proof/presentations/${presentationId}/response-code`
      return ask(verifier.agent, `POST ${path}`, { body, apiKey: verifier.tenant.apiKey })
    },
  },
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
  {
    file: 'digital-response.ts',
    text: '!origins.includes(origin)',
    off: 'false',
    attack: fromPage(() => ({ origin: 'https://localhost' })),
  },
  {
    file: 'digital-response.ts',
    text: 'protocol !== digitalRequest.protocol',
    off: 'false',
    attack: fromPage(() => ({ protocol: 'openid4vp-v1-signed' })),
  },
  {
    file: 'digital-response.ts',
    text: 'audienceOf(origin)',
    off: 'record.openid4vp.clientId',
    attack: fromPage(({ openid4vp }) => ({ aud: openid4vp.clientId })),
  },
  {
    file: 'authorization-request.ts',
    text: 'openid4vp.directPost === false',
    off: 'false',
    attack: async (verifier) => {
      const options = { did: await newVerifierDid(verifier), directPost: false }
      const { pageUrl } = await askedDigitally(verifier, options)
      const reply = await ask({ url: '' }, `GET ${pageUrl.replace(/\/page$/, '')}`)
      if (reply.status !== 200) return reply
      const request = decodeJwt(reply.body).payload
      return present(request, { person: [await presentSdJwt(request)] })
    },
  },
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
  {
    file: 'src/formats/presentation.ts',
    text: '!audiences.includes(audience)',
    off: 'false',
    attack: presented(() => ({ binding: { aud: 'redirect_uri:https://other.example' } })),
  },
  {
    file: 'src/formats/presentation.ts',
    text: 'answer.nonce === undefined || answer.nonce !== nonce',
    off: 'false',
    attack: presented(() => ({ binding: { nonce: 'other' } })),
  },
  {
    file: 'src/formats/presentation.ts',
    text: 'checkValidity(toValidity([iat, answer.nbf], [answer.exp]), options.now, leewaySeconds)',
    off: 'undefined',
    attack: presented(() => ({ binding: { iat: now() + 3_600 } })),
  },
  {
    file: 'src/formats/presentation.ts',
    text: 'iat !== undefined && requestedAt !== undefined && iat < requestedAt - leewaySeconds',
    off: 'false',
    attack: presented(() => ({ binding: { iat: now() - 3_600 } })),
  },
  {
    file: 'src/presentation/answer.ts',
    text: '!match.isMatch',
    off: 'false',
    attack: presented(async () => ({ credential: await issueSdJwt({ payload: { vct: 'urn:other' } }) })),
  },
  {
    file: 'src/formats/sd-jwt/presentation.ts',
    text: 'if (requiresVcType) requireVcType(read)',
    off: '',
    attack: presented(async () => ({ credential: retypeCredential(await issueSdJwt(), 'JWT') })),
  },
  {
    file: 'src/dcql/path.ts',
    text: 'array.slice(component, component + 1)',
    off: 'array.slice(0, component + 1)',
    attack: presented(
      async () => ({
        credential: await issueSdJwt({ payload: { nationalities: ['DE', 'FR'] } }),
        claims: [],
      }),
      {
        dcqlQuery: { credentials: [{ ...person, claims: [{ path: ['nationalities', 1], values: ['DE'] }] }] },
      },
    ),
  },
  {
    file: 'src/dcql/path.ts',
    text: 'steps > mostSteps',
    off: 'false',
    attack: async (verifier) => {
      const list = Array.from({ length: 9_000 }, () => 1)
      const expensive = list
        .slice(0, 50)
        .map((_, index) => ({ id: `c${index}`, path: ['list', null, `${index}`] }))
      const claims = [{ id: 'name', path: ['name'] }, ...expensive]
      const dcqlQuery = { credentials: [{ ...person, claims, claim_sets: [['name']] }] }
      const credential = await issueSdJwt({ payload: { list } })
      return presented(() => ({ credential }), { dcqlQuery })(verifier)
    },
  },
  {
    file: 'src/presentation/answer.ts',
    text: 'checkDisclosures(disclosures, query)',
    off: 'undefined',
    attack: presented(() => ({ claims: ['name', 'age'] })),
  },
  {
    file: 'src/presentation/answer.ts',
    text: 'checkPolicy(constraints, [decoded])',
    off: 'undefined',
    attack: async (verifier) => {
      const constraints = [{ schemaId: vct, trustedIssuers: ['did:web:government.example'] }]
      const body = { name: 'persons', description: '', constraints }
      const { id: policyId } = await verifier.tenant.call('POST /verification/policies', { body })
      return presented(() => ({}), { policyId })(verifier)
    },
  },
  {
    file: 'src/formats/sd-jwt/presentation.ts',
    text: 'checkKeyBinding(read, resolve)',
    off: 'undefined',
    attack: presented(() => ({ key: generateKey('P-256') })),
  },
  {
    file: 'src/formats/presentation.ts',
    text: 'checkValidity(decoded, options.now, options.leewaySeconds)',
    off: 'undefined',
    attack: presented(async () => ({ credential: await issueSdJwt({ payload: { exp: now() - 3_600 } }) })),
  },
  {
    file: 'src/formats/presentation.ts',
    text: 'checkIssuerSignature(jws, issuerDid, options)',
    off: 'undefined',
    attack: presented(async () => ({ credential: await issueSdJwt({ key: generateKey('P-256') }) })),
  },
  {
    file: 'src/credentials/verify.ts',
    text: 'await establishStatus(status, credential, checkStatus)',
    off: 'undefined',
    attack: presented(async () => {
      const status = { status_list: { idx: 0, uri: 'not a URL' } }
      return { credential: await issueSdJwt({ payload: { status } }) }
    }),
  },
]

const payment = { type: 'payment', credential_ids: ['person'], amount: '10.00 EUR' }
const authorizing =
  (transaction: object, toBinding: (text: string) => object): Check['attack'] =>
  async (verifier) => {
    const credentials = [person, { ...person, id: 'other' }]
    const { request } = await asked(verifier, { dcqlQuery: { credentials }, transactionData: [transaction] })
    const binding = toBinding(request.transaction_data[0])
    const vps = { other: [await presentSdJwt(request, { binding })], person: [await presentSdJwt(request)] }
    return present(request, vps)
  }
const hashOf = (text: string) => [hash('sha256', text, 'base64url')]
const strong = { ...payment, credential_ids: ['other'], transaction_data_hashes_alg: ['sha-512'] }

const transactions: Check[] = [
  {
    file: 'src/presentation/transaction-data.ts',
    text: 'ids.includes(credentialId)',
    off: 'true',
    attack: authorizing(payment, (text) => ({ transaction_data_hashes: hashOf(text) })),
  },
  {
    file: 'src/presentation/transaction-data.ts',
    text: '(allowed ?? [defaultAlgorithm]).includes(algorithm as Algorithm)',
    off: 'true',
    attack: authorizing(strong, (text) => ({
      transaction_data_hashes: hashOf(text),
      transaction_data_hashes_alg: 'sha-256',
    })),
  },
  {
    file: 'src/presentation/transaction-data.ts',
    text: 'allowed === undefined',
    off: 'true',
    attack: authorizing(strong, (text) => ({ transaction_data_hashes: hashOf(text) })),
  },
  {
    file: 'src/presentation/transaction-data.ts',
    text: 'count !== 1',
    off: 'false',
    attack: authorizing(payment, () => ({})),
  },
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
  {
    file: 'src/formats/jwt/presentation.ts',
    text: 'tokens.length < least || tokens.length > most',
    off: 'false',
    attack: presentedJwt({ count: 2 }),
  },
  {
    file: 'src/formats/jwt/presentation.ts',
    text: "checkHolderIs(iss, named, 'The holder of the presentation is')",
    off: 'undefined',
    attack: presentedJwt({ vp: { holder: 'did:web:other.example' } }),
  },
  {
    file: 'src/formats/jwt/presentation.ts',
    text: "checkHolderIs(iss, subject, 'The subject of the credential is')",
    off: 'undefined',
    attack: presentedJwt({ key: thief, iss: createJwkDid(toPublic(thief)) }),
  },
  {
    file: 'src/formats/jwt/presentation.ts',
    text: "await checkSignature(vp.jws, { did: iss, role: 'holder' }, resolve)",
    off: 'undefined',
    attack: presentedJwt({ key: thief }),
  },
  {
    file: 'src/presentation/answer.ts',
    text: 'policy?.constraints ?? []',
    off: '[]',
    attack: async (verifier) => {
      const constraints = [{ schemaId: 'https://schemas.example/person', trustedIssuers: [] }]
      const body = { name: 'persons', description: '', constraints }
      const { id: policyId } = await verifier.tenant.call('POST /verification/policies', { body })
      return presentedJwt({})(verifier, { policyId })
    },
  },
]

/** Answers with a credential of an issuer with certificates, of a new root that is trusted. */
const certified =
  (toIssuer: (root: Root) => ReturnType<typeof certifiedIssuer>, payload = {}) =>
  async (verifier: Verifier, options: RequestOptions = {}) => {
    const root = await identifiedAuthority(`CN=Root ${crypto.randomUUID()}`)
    await trust(verifier, root)
    const credential = await issueCertified(await toIssuer(root), { payload })
    return presented(() => ({ credential }), options)(verifier)
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
    return await presented(() => ({ credential }))(verifier)
  }

/** Answers with a credential of an issuer with these names, below an authority with constraints on DNS names. */
const constrained = (permitted: string[], excluded: string[], names: NonNullable<Options['names']>) =>
  certified(async (root) => {
    const middle = await authority('CN=Middle', root, { extensions: [constraints(permitted, excluded)] })
    return certifiedIssuer(middle, { names }, [middle])
  })

const issuers: Check[] = [
  {
    file: 'src/presentation/trust.ts',
    text: '!isByAuthority({ authorityKeyIds }, asked)',
    off: 'false',
    attack: presented(() => ({}), {
      dcqlQuery: { credentials: [{ ...person, trusted_authorities: [{ type: 'aki', values: ['bm9uZQ'] }] }] },
    }),
  },
  {
    file: 'src/presentation/trust.ts',
    text: 'await isTrustedDid(db, issuer)',
    off: 'true',
    attack: presented(() => ({}), { issuers: 'trusted' }),
  },
  {
    file: 'src/presentation/trust.ts',
    text: 'named.length > 0 && !authorityKeyIds.some((each) => named.includes(each))',
    off: 'false',
    attack: async (verifier) => {
      const tenant = await verifier.agent.newTenant()
      await tenant.call('POST /trust-anchors', { body: { type: 'aki', value: 'bm9uZQ' } })
      return certified((root) => certifiedIssuer(root))({ ...verifier, tenant }, { issuers: 'trusted' })
    },
  },
  {
    file: 'src/formats/sd-jwt/presentation.ts',
    text: "'iss' in processed && { iss: issuer }",
    off: '{}',
    attack: (verifier) => {
      const iss = 'https://bank.example'
      const claims = [{ path: ['name'] }, { path: ['iss'], values: [iss] }]
      const dcqlQuery = { credentials: [{ ...person, claims }] }
      return certified((root) => certifiedIssuer(root), { iss })(verifier, { dcqlQuery })
    },
  },
  {
    file: 'src/credentials/x509-issuer.ts',
    text: "url.username + url.password === ''",
    off: 'true',
    attack: (verifier) => {
      const iss = 'https://bank.example@issuer.example'
      const claims = [{ path: ['name'] }, { path: ['iss'], values: [iss] }]
      const dcqlQuery = { credentials: [{ ...person, claims }] }
      const names = [{ type: 'dns', value: 'issuer.example' }] as const
      return certified((root) => certifiedIssuer(root, { names: [...names] }), { iss })(verifier, {
        dcqlQuery,
      })
    },
  },
  {
    file: 'src/trust-anchors/verify-chain.ts',
    text: 'isIssuer(x5c, certificate, issuer)',
    off: 'true',
    attack: listed((root) => certifiedIssuer(root, { names: statusNames })),
  },
  {
    file: 'src/trust-anchors/verify-chain.ts',
    text: 'certificate.isStatusIssuer',
    off: 'true',
    attack: listed((root) => certifiedIssuer(root, { names: statusNames })),
  },
  {
    file: 'src/trust-anchors/verify-chain.ts',
    text: 'certificate.anchor === anchor',
    off: 'true',
    attack: listed(async (_, verifier) => {
      const other = await authority('CN=Other')
      await trust(verifier, other)
      return certifiedIssuer(other, { names: statusNames, extensions: [forStatusLists()] })
    }),
  },
  {
    file: 'src/x509/path.ts',
    text: 'extended?.critical === true && !roles.some((role) => isFor(role))',
    off: 'false',
    attack: certified((root) =>
      certifiedIssuer(root, { extensions: [authorityKey(root), forStatusLists()] }),
    ),
  },
  {
    file: 'src/x509/path.ts',
    text: 'publicExponent === undefined || publicExponent >= tooLargeExponent',
    off: 'false',
    attack: certified(async (root) => {
      const middle = await authority('CN=Slow', root, { keys: await slowKeys(2_048) })
      return certifiedIssuer(middle, {}, [middle])
    }),
  },
  {
    file: 'src/x509/path.ts',
    text: 'bits < leastRsaBits || bits > mostRsaBits',
    off: 'false',
    attack: certified(async (root) => {
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
  },
  {
    file: 'src/x509/name-constraints.ts',
    text: 'own.length > 0 ? own : of(permitted, hostForms)',
    off: 'own',
    attack: constrained(['mine.example'], [], issuerNames),
  },
  {
    file: 'src/x509/name-constraints.ts',
    text: 'of(excluded, hostForms)',
    off: 'of(excluded, [form])',
    attack: constrained([], ['issuer.example'], issuerNames),
  },
  {
    file: 'src/x509/name-constraints.ts',
    text: "host.toLowerCase().replace(/\\.$/, '')",
    off: 'host.toLowerCase()',
    attack: constrained([], ['issuer.example.'], issuerNames),
  },
  {
    file: 'src/x509/name-constraints.ts',
    text: 'comparisons > mostComparisons',
    off: 'false',
    attack: constrained(
      [],
      Array.from({ length: 400 }, (_, n) => `${n}.example`),
      Array.from({ length: 400 }, (_, n) => ({ type: 'dns', value: `a${n}.example` })),
    ),
  },
  {
    file: 'src/x509/x5c.ts',
    text: 'checkTrust({ x5c: chain, read }, anchors.flatMap(readTrusted), at, role)',
    off: 'chain.map(parseMember)',
    attack: certified(async () => certifiedIssuer(await authority('CN=Stranger'))),
  },
  {
    file: 'src/x509/path.ts',
    text: 'named !== undefined && keyId !== undefined && named !== keyId',
    off: 'false',
    attack: certified((root) =>
      certifiedIssuer(root, { names: issuerNames, extensions: [authorityKey({ keyId: 'b3RoZXI' })] }),
    ),
  },
  {
    file: 'src/credentials/issuer-signature.ts',
    text: '!isSignedBy(jws, publicKeyJwk)',
    off: 'false',
    attack: certified(async (root) => ({ ...(await certifiedIssuer(root)), key: generateKey('P-256') })),
  },
]

/** Limits of what whoever has the link of a request makes the wallet of the verifier store. */
const strangers: Check[] = [
  {
    file: 'response.ts',
    text: "if (record.state !== 'RequestCreated') return",
    off: 'false',
    attack: async (verifier) => {
      const { presentationId, request } = await asked(verifier)
      await present(request, { person: [await presentSdJwt(request)] })
      await respond(request, { vp_token: '{}', state: 'wrong' })
      const { thid } = await presentationOf(verifier, presentationId)
      const { agent, tenant } = verifier
      const refused = await agent.agent.wallets.use(tenant.walletId, ({ db }) =>
        db.selectFrom('message_log').select('sequence').where('thread', '=', thid).execute(),
      )
      return replyIf(refused.length > 0)
    },
  },
  {
    file: 'response.ts',
    text: 'sum <= longestRefused',
    off: 'true',
    attack: async (verifier) => {
      const { presentationId, request } = await asked(verifier)
      const credential = await issueSdJwt({ payload: { more: 'a'.repeat(20_000) } })
      await present(request, {
        person: [await presentSdJwt(request, { credential, binding: { nonce: 'other' } })],
      })
      const { data } = await presentationOf(verifier, presentationId)
      return replyIf(data.length > 0)
    },
  },
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
