/** Checks of access tokens of an external authorization server, and the attack that each one stops. */
import { startAuthorizationServer } from './_authorization-server.ts'
import { check, type Check } from './_mutants.ts'
import { expire, externalState, take, useServer, type Scene } from './_scene.ts'

/** Requests the credential with a JWT that has other claims and another header than a valid one. */
const byJwt =
  (claims: (scene: Scene) => Record<string, unknown>, header: object = {}) =>
  async (scene: Scene) => {
    const { external, server } = scene
    const { issuerState } = await externalState(external)
    const all = { aud: external.identifier, issuer_state: issuerState, ...claims(scene) }
    return take(external, await server.sign(all, header))
  }

/** Requests the credential with an opaque token, of which the server says something else than of a valid one. */
const byIntrospection = (said: object) => async (scene: Scene) => {
  const { external, server } = scene
  const { issuerState } = await externalState(external)
  server.state.introspected = { active: true, issuer_state: issuerState, ...said }
  return take(external, 'opaque')
}

export const externalChecks: Check[] = [
  check(
    'external-server.ts',
    ['issuer: known.metadata.issuer', ''],
    byJwt(() => ({ iss: 'https://thief.example' })),
  ),
  check(
    'external-server.ts',
    ['audience: audiences', ''],
    byJwt(() => ({ aud: 'https://api.example' })),
  ),
  check(
    'external-server.ts',
    ["requiredClaims: ['exp']", ''],
    byJwt(() => ({ exp: undefined })),
  ),
  check(
    'external-server.ts',
    "!isMediaType(protectedHeader.typ ?? 'JWT', 'JWT', 'at+jwt')",
    byJwt(() => ({}), { typ: 'logout+jwt' }),
  ),
  check(
    'external-server.ts',
    '!active || (exp !== undefined && exp * 1_000 <= Date.now())',
    byIntrospection({ active: false }),
  ),
  check(
    'external-server.ts',
    'iss !== issuer || ![aud].flat().some((each) => audiences.includes(each))',
    byIntrospection({ aud: 'https://api.example' }),
  ),
  check('external-server.ts', '!isSameIssuer(metadata.issuer, url)', async (scene) => {
    await using server = await startAuthorizationServer()
    server.state.issuer = 'https://login.example'
    await useServer(scene.external, server.url)
    try {
      return await byJwt(() => ({ iss: 'https://login.example' }))({ ...scene, server })
    } finally {
      await useServer(scene.external, scene.server.url)
    }
  }),
  // An offer belongs to the server that the issuer had.
  check('access-token.ts', 'grant?.authorization_server !== server.url', async (scene) => {
    const { external } = scene
    const { issuerState } = await externalState(external)
    await using server = await startAuthorizationServer()
    await useServer(external, server.url)
    try {
      return await take(external, await server.sign({ aud: external.identifier, issuer_state: issuerState }))
    } finally {
      await useServer(external, scene.server.url)
    }
  }),
  check('access-token.ts', 'isOver((record.openid4vci?.expiresTime ?? 0) * 1_000)', async (scene) => {
    const { external, server } = scene
    const { issuerState, recordId } = await externalState(external)
    await expire(scene, recordId)
    return take(external, await server.sign({ aud: external.identifier, issuer_state: issuerState }))
  }),
]
