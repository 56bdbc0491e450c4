/** Whether a text is a DID that an organisation can be given (service §2.12): by its syntax, and by the rules of its method as far as nobody has to be asked. */
import { Problem } from '../base/problem.ts'
import { Did } from '../did/document.ts'
import { resolveJwkDid } from '../did/jwk.ts'
import { resolveKeyDid } from '../did/key.ts'
import { resolvePeerDid } from '../did/peer.ts'
import { embeddedState, parsePrismDid } from '../did/prism/did.ts'
import { toUrl } from '../did/web.ts'

/** What is checked of methods that are known here; of others, the syntax alone. */
const rules: Readonly<Record<string, (did: string) => unknown>> = {
  peer: resolvePeerDid,
  key: resolveKeyDid,
  jwk: resolveJwkDid,
  web: (did) => toUrl(did),
  prism(did) {
    const { operation } = parsePrismDid(did)
    return operation && embeddedState(did, operation)
  },
}

/**
 * The reason why a text is no DID; nothing when it is one. That it resolves, or that whoever sent it controls it, is not said. A DID that its
 * method allows and nobody but its maker can resolve, such as a did:peer of numalgo 1, is one too.
 */
export function whyNoDid(text: string): string | undefined {
  const method = /^did:([a-z0-9]+):/.exec(text)?.[1]
  if (method === undefined || !Did.safeParse(text).success)
    return 'it is not did:, a method in lower case, a colon, and an identifier'
  try {
    if (Object.hasOwn(rules, method)) rules[method]!(text)
    return undefined
  } catch (error) {
    if (error instanceof Problem && error.type === 'error:DIDResolution:invalidDid') return error.message
    if (error instanceof Problem) return undefined
    throw error
  }
}
