/** Checks of the authorization server, from the authorization request to the token, and the attack that each one stops. */
import { generateKey } from '../../src/crypto/keys.ts'
import { answer, newPkce, offered, open, push, sealedIn, type Parameters } from './_authorization.ts'
import { newDpopNonce, post, proofFor, thumbprintOf } from './_dpop.ts'
import type { Check } from './_mutants.ts'
import { expire, externalState, preAuthorized, withWallet, type Scene } from './_scene.ts'
import { redeem } from './_wallet.ts'

/** Pushes a request with other parameters than a valid one. */
const pushed =
  (changes: Parameters) =>
  async ({ setup }: Scene) =>
    push(setup, { ...(await offered(setup)).parameters, ...changes })

/** The fields of the page of a request. */
async function shown(setup: Scene['setup']) {
  const { parameters, txCode, ...made } = await offered(setup)
  const request = sealedIn(await open(setup, parameters))
  return { ...made, fields: { request, decision: 'accept', tx_code: txCode } }
}

const details = (id: string) =>
  JSON.stringify([{ type: 'openid_credential', credential_configuration_id: id }])

const requests: Check[] = [
  {
    file: 'authorization-request.ts',
    text: 'fault !== undefined',
    off: 'false',
    attack: async ({ setup }) =>
      open(setup, { ...(await offered(setup)).parameters, redirect_uri: 'http://thief.example/cb' }),
  },
  {
    // The offer has no transaction code: the external server authorizes the person.
    file: 'authorization-request.ts',
    text: 'session?.authorization_server !== null',
    off: 'session === undefined',
    attack: async ({ external }) => {
      const { issuerState } = await externalState(external)
      const parameters = {
        response_type: 'code',
        client_id: 'wallet',
        redirect_uri: 'https://wallet.example',
      }
      const pkce = { code_challenge: newPkce().challenge, code_challenge_method: 'S256' }
      return open(external, { ...parameters, ...pkce, scope: 'Person', issuer_state: issuerState })
    },
  },
  {
    file: 'authorization-request.ts',
    text: "record.state !== 'OfferCreated' || isOver((record.openid4vci?.expiresTime ?? 0) * 1_000)",
    off: 'false',
    attack: async (scene) => {
      const { parameters, recordId } = await offered(scene.setup)
      await expire(scene, recordId)
      return open(scene.setup, parameters)
    },
  },
  {
    file: 'authorization-request.ts',
    text: 'request.request !== undefined',
    off: 'false',
    attack: pushed({ request: 'e30.e30.' }),
  },
  {
    file: 'authorization-request.ts',
    text: "request.response_type !== 'code'",
    off: 'false',
    attack: pushed({ response_type: 'token' }),
  },
  {
    file: 'authorization-request.ts',
    text: "request.response_mode !== undefined && request.response_mode !== 'query'",
    off: 'false',
    attack: pushed({ response_mode: 'fragment' }),
  },
  {
    file: 'authorization-request.ts',
    text: "method !== 'S256' || !/^[\\w-]{43}$/.test(codeChallenge)",
    off: 'false',
    attack: pushed({ code_challenge_method: 'plain' }),
  },
  {
    file: 'authorization-request.ts',
    text: "!byDetails && !(request.scope ?? '').split(' ').includes(session.configuration_id)",
    off: 'false',
    attack: pushed({ scope: 'Licence' }),
  },
  {
    file: 'authorization-request.ts',
    text: 'parsed.data.length !== 1 || !isOffered(parsed.data[0]!)',
    off: 'false',
    attack: pushed({ authorization_details: details('Licence') }),
  },
  {
    file: 'src/oauth/parameters.ts',
    text: 'repeated !== undefined',
    off: 'false',
    attack: async ({ setup }) => {
      const form = new URLSearchParams((await preAuthorized(setup)).form).toString()
      return redeem(setup, `${form}&client_id=one&client_id=two`)
    },
  },
  {
    file: 'sealed-request.ts',
    text: 'isOver(opened.endsMs)',
    off: 'false',
    attack: async (scene) => {
      const { setup } = scene
      const { request_uri } = (await push(setup, (await offered(setup)).parameters)).body
      const [, prefix, sealed] = /^(.*:)(.*)$/.exec(request_uri)!
      const context = `authorization-request:pushed:${setup.issuerId}`
      const old = await withWallet(scene, (wallet) => {
        const opened = JSON.parse(wallet.unseal(context, sealed!))
        return wallet.seal(context, JSON.stringify({ ...opened, endsMs: 1 }))
      })
      return open(setup, { client_id: 'wallet', request_uri: `${prefix}${old}` })
    },
  },
  {
    file: 'sealed-request.ts',
    text: '`authorization-request:${purpose}:${issuerId}`',
    off: "'authorization-request'",
    attack: async ({ setup, other }) => answer(setup, (await shown(other)).fields),
  },
  {
    file: 'sealed-request.ts',
    text: 'request.clientId !== clientId',
    off: 'false',
    attack: async ({ setup }) => {
      const { request_uri } = (await push(setup, (await offered(setup)).parameters)).body
      return open(setup, { client_id: 'thief', request_uri })
    },
  },
  {
    file: 'sealed-request.ts',
    text: 'checked.jkt !== undefined && jkt !== checked.jkt',
    off: 'false',
    attack: async ({ setup }) => {
      const { parameters } = await offered(setup)
      const dpop = proofFor(setup, 'par', { nonce: await newDpopNonce(setup) })
      return post(setup, 'par', { ...parameters, dpop_jkt: thumbprintOf(generateKey('Ed25519')) }, dpop)
    },
  },
]

const consents: Check[] = [
  {
    // A link to this agent leads to the host of a stranger.
    file: 'consent.ts',
    text: '{ refusal: { reason: error.message, target } }',
    off: '{ redirect: target }',
    attack: async ({ setup }) => {
      const shown = await open(setup, { ...(await offered(setup)).parameters, response_type: 'token' })
      return { ...shown, status: shown.location ? 200 : 400 }
    },
  },
  {
    file: 'redirect-uri.ts',
    text: '!/^[\\w.:[\\]-]*$/.test(host)',
    off: 'false',
    attack: async ({ setup }) =>
      open(setup, { ...(await offered(setup)).parameters, redirect_uri: 'https://a;sandbox' }),
  },
  {
    file: 'consent.ts',
    text: "decision === 'accept' && right !== undefined",
    off: 'false',
    attack: async ({ setup }) => answer(setup, { ...(await shown(setup)).fields, tx_code: undefined }),
  },
  {
    file: 'consent.ts',
    text: '(await isUsed(tx, request.id))',
    off: 'false',
    attack: async ({ setup }) => {
      const { fields } = await shown(setup)
      await answer(setup, { ...fields, decision: 'decline' })
      return answer(setup, fields)
    },
  },
  {
    file: 'consent.ts',
    text: 'earlier && earlier.decision !== decision',
    off: 'false',
    attack: async ({ setup }) => {
      const { fields } = await shown(setup)
      await answer(setup, { ...fields, decision: 'decline' })
      return answer(setup, fields)
    },
  },
  {
    file: 'daemon/routes/oid4vci-authorization.ts',
    text: "!isOwn || (site ?? 'same-origin') !== 'same-origin'",
    off: 'false',
    attack: async ({ setup }) =>
      answer(setup, (await shown(setup)).fields, { 'sec-fetch-site': 'cross-site' }),
  },
]

export const authorizationChecks: Check[] = [...requests, ...consents]
