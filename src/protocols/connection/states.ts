/** Connection (service §3.1). DIDComm messages: `request` and `response`. */
import { machine, type RoleOf, type StateOf } from '../machine.ts'

// prettier-ignore
export const connectionStates = machine('ConnectionUpdated', [
  // role      from                         on                              to                            then
  ['Inviter', null,                        'POST /connections',            'InvitationGenerated'                          ],
  ['Inviter', 'InvitationGenerated',       'received request',             'ConnectionRequestReceived'                    ],
  ['Inviter', 'ConnectionRequestReceived', 'accept',                       'ConnectionResponsePending',  'send response'  ],
  ['Inviter', 'ConnectionResponsePending', 'sent',                         'ConnectionResponseSent'                       ],

  ['Invitee', null,                        'received invitation',          'InvitationReceived'                           ],
  ['Invitee', 'InvitationReceived',        'POST /connection-invitations', 'ConnectionRequestPending',   'send request'   ],
  ['Invitee', 'ConnectionRequestPending',  'sent',                         'ConnectionRequestSent'                        ],
  ['Invitee', 'ConnectionRequestSent',     'received response',            'ConnectionResponseReceived'                   ],
])

export type ConnectionState = StateOf<typeof connectionStates>
export type ConnectionRole = RoleOf<typeof connectionStates>

/** The states in which both sides know each other, and other protocols may begin. */
export const connectedStates: readonly ConnectionState[] = ['ConnectionResponseSent', 'ConnectionResponseReceived']
