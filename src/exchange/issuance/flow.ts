/** Issue Credential 3.0: its handlers and tasks. `issuer.ts` and `holder.ts` have the two sides. */
import type { Flow } from '../engine/composition.ts'
import { makeAcceptance, onCredential, onOffer } from './holder.ts'
import { makeCredential, onRequest } from './issuer.ts'
import { issueCredential } from './model.ts'

export const credentialFlow: Flow = {
  protocol: issueCredential,
  handlers: {
    [issueCredential.messages.offer]: onOffer,
    [issueCredential.messages.request]: onRequest,
    [issueCredential.messages.credential]: onCredential,
  },
  tasks: { acceptance: makeAcceptance, credential: makeCredential },
}
