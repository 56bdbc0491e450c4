import { acceptAnything, acceptFlags } from '../cli/accept.ts'
import { defineCommand } from '../cli/define-command.ts'
import { incomingArgument, whichIncoming } from '../cli/incoming.ts'

export default defineCommand({
  summary: 'Answer a link or QR code of any kind',
  description:
    'Recognises invitations, credential offers and proof requests of DIDComm, DID requests and challenges, offers of OpenID4VCI and requests of OpenID4VP. Says what it is and who asks, asks for consent, answers, and waits until it is done. Without a terminal, --yes is required. An offer or a request that you decline is rejected. Exits with 2 if the text is nothing that can be answered, with 3 if no credential fits, with 5 if it has expired or the other side refuses.',
  examples: [
    'agent accept "https://acme.example/i?_oobid=tN1diGk6S4qZ6SgG"',
    'agent accept code.png',
    'agent accept "openid-credential-offer://?credential_offer=%7B…" --tx-code 493536',
    'agent accept "openid4vp://?client_id=…&request_uri=…" --yes',
    'wl-paste | agent accept - --yes',
  ],
  args: { link: incomingArgument },
  flags: acceptFlags,
  questions: { link: whichIncoming },
  run: acceptAnything,
})
