import { defineCommand } from '../../cli/define-command.ts'
import { answerFlags, confirmSender } from '../../cli/enterprise.ts'
import { qrTextArg, readDidRequest } from '../../cli/input/invitation.ts'

export default defineCommand({
  summary: 'Decline a DID request',
  description: 'Notifies the sender. The request can no longer be answered.',
  examples: ['agent onboard reject request.json', 'zbarcam --raw -1 | agent onboard reject -'],
  args: { request: qrTextArg },
  flags: answerFlags,
  async run(context) {
    const { args, call, print } = context
    const didRequest = await readDidRequest(call, args.request)
    await confirmSender(context, {
      endpoint: didRequest.onboardEndpoint,
      from: didRequest.from,
      wants: 'asks for a DID. The request will be declined',
    })
    const answered = await call('POST /onboard/answers', { body: { didRequest, decline: true } })
    print(answered.endpoint, [
      ['from', answered.from],
      ['state', 'declined'],
    ])
    return answered
  },
})
