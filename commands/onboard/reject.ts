import { defineCommand } from '../../cli/define-command.ts'
import { answerFlags, confirmSender } from '../../cli/answer-request.ts'
import { incomingArgument, readIncoming } from '../../cli/incoming.ts'

export default defineCommand({
  summary: 'Decline a DID request',
  description: 'Notifies the sender. The request can no longer be answered.',
  examples: ['agent onboard reject request.json', 'zbarcam --raw -1 | agent onboard reject -'],
  args: { request: incomingArgument },
  flags: answerFlags,
  async run(context) {
    const { args, call, print } = context
    const didRequest = (await readIncoming(call, args.request, 'did-request')).didRequest!
    const wants = 'asks for a DID. The request will be declined'
    await confirmSender(context, didRequest, didRequest.onboardEndpoint, wants)
    const answered = await call('POST /onboard/answers', { body: { didRequest, decline: true } })
    print(answered.endpoint, [
      ['from', answered.from],
      ['state', 'declined'],
    ])
    return answered
  },
})
