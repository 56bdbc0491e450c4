/** Present Proof 3.0: its handlers and tasks. `verifier.ts` and `prover.ts` have the two sides. */
import type { Flow } from '../engine/composition.ts'
import { didcommOrgMessages, presentProof } from './model.ts'
import { deliverRefusal } from './openid4vp-response.ts'
import { makePresentation, onRequest } from './prover.ts'
import { onPresentation } from './verifier.ts'

export const presentationFlow: Flow = {
  protocol: presentProof,
  handlers: {
    [presentProof.messages.request]: onRequest,
    [presentProof.messages.presentation]: onPresentation,
    [didcommOrgMessages.request]: onRequest,
    [didcommOrgMessages.presentation]: onPresentation,
  },
  tasks: { presentation: makePresentation, refusal: deliverRefusal },
}
