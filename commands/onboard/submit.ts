import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { answerFlags, submitDid } from '../../cli/answer-request.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { incomingArgument, readIncoming } from '../../cli/incoming.ts'

export default defineCommand({
  summary: 'Answer a DID request with a DID of this wallet',
  description:
    'Prints the sender and, at a terminal, asks for confirmation. A new DID (--new) is used for this sender only.',
  examples: [
    'agent onboard submit request.json --new',
    'zbarcam --raw -1 | agent onboard submit - --did did:prism:…',
  ],
  args: { request: incomingArgument },
  flags: {
    did: Flags.string({ exclusive: ['new'], description: 'the DID to submit' }),
    new: Flags.boolean({ description: 'submit a new did:peer' }),
    ...answerFlags,
  },
  async run(context) {
    const { args, flags, call } = context
    const { did } = flags
    if (did === undefined && !flags.new)
      throw new UsageError('Name the DID to submit with --did, or create one with --new.')
    return submitDid(context, await readIncoming(call, args.request, 'did-request'), did)
  },
})
