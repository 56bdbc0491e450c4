import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { answerFlags, confirmSender } from '../../cli/enterprise.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { qrTextArg, readDidRequest } from '../../cli/input/invitation.ts'

export default defineCommand({
  summary: 'Answer a DID request with a DID of this wallet',
  description:
    'Prints the sender and, at a terminal, asks for confirmation. A new DID (--new) is used for this sender only.',
  examples: [
    'agent onboard submit request.json --new',
    'zbarcam --raw -1 | agent onboard submit - --did did:prism:…',
  ],
  args: { request: qrTextArg },
  flags: {
    did: Flags.string({ exclusive: ['new'], description: 'the DID to submit' }),
    new: Flags.boolean({ description: 'submit a new did:peer' }),
    ...answerFlags,
  },
  async run(context) {
    const { args, flags, call, print } = context
    const { did } = flags
    if (did === undefined && !flags.new)
      throw new UsageError('Name the DID to submit with --did, or create one with --new.')
    const didRequest = await readDidRequest(call, args.request)
    await confirmSender(context, {
      endpoint: didRequest.onboardEndpoint,
      from: didRequest.from,
      wants: 'asks for a DID',
    })
    const answered = await call('POST /onboard/answers', { body: { didRequest, did } })
    print(answered.did!, [
      ['did', answered.did],
      ['from', answered.from],
      ['state', 'handed over'],
    ])
    return answered
  },
})
