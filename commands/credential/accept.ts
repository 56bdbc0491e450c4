import * as Flags from '@oclif/core/flags'
import { acceptOffer, onlySubject } from '../../cli/accept-didcomm.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { whichRecord, whichSubject } from '../../cli/prompts/questions.ts'
import { waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Accept an offer (holder)',
  examples: [
    'agent credential accept <id> --subject did:prism:…',
    'agent credential accept <id> --subject did:prism:… --key-id auth-1',
    'agent credential accept <id>',
  ],
  args: idOf('credential record'),
  flags: {
    subject: Flags.string({
      description:
        'subject of the credential: a DID of this wallet with an authentication key, not for AnonCreds; default: the only such DID',
    }),
    'key-id': Flags.string({
      description:
        'authentication key, such as auth-1, that signs and that an SD-JWT is bound to; default: the first key signs, without binding',
    }),
    'tx-code': Flags.string({
      exclusive: ['subject', 'key-id'],
      description: 'transaction code of an offer of OpenID4VCI, which the issuer gave on another channel',
    }),
    ...waitFlags('the credential was received'),
  },
  questions: {
    id: whichRecord('credential', 'credential accept'),
    subject: whichSubject,
  },
  async run(context) {
    const { args, flags, call } = context
    const path = { recordId: args.id }
    const read = () => call('GET /issue-credentials/records/{recordId}', { path })
    const subjectId = flags.subject ?? (await onlySubject(context, await read()))
    return acceptOffer(context, args.id, { subjectId, keyId: flags['key-id'], txCode: flags['tx-code'] })
  },
})
