/** Who listens: open connections with live delivery on (message pickup 3.0, Live Mode). Nothing of it outlives the connection. */

/** A connection that stays open, such as a WebSocket. */
export type Channel = {
  /** Sends a packed message; it may get lost, and waits in the queue until it is acknowledged. */
  send(envelope: string): void
}

/** Somebody who listens for an account: where, with which key, and which DID of the mediator they talk to. */
export type Listener = { channel: Channel; account: string; kid: string; from: string }

/** Connections that one account may listen on; the oldest goes first, which is likely a dead one. */
const perAccount = 8

/** Accounts that one connection may listen for. */
const perChannel = 32

export type Live = {
  /** Starts listening; false when the connection listens for too many already. */
  join: (listener: Listener) => boolean
  leave: (channel: Channel, account: string) => void
  /** Ends all that a connection listens for: it is closed. */
  drop: (channel: Channel) => void
  isLive: (channel: Channel | undefined, account: string) => boolean
  listeners: (account: string) => readonly Listener[]
  /** Whom somebody listens for. */
  accounts: () => string[]
}

/** Makes the list of listeners, empty. */
export function createLive(): Live {
  const byAccount = new Map<string, Listener[]>()
  const byChannel = new Map<Channel, Set<string>>()

  function leave(channel: Channel, account: string): void {
    const left = (byAccount.get(account) ?? []).filter((listener) => listener.channel !== channel)
    if (left.length > 0) byAccount.set(account, left)
    else byAccount.delete(account)
    const accounts = byChannel.get(channel)
    accounts?.delete(account)
    if (accounts?.size === 0) byChannel.delete(channel)
  }

  return {
    join(listener) {
      const { channel, account } = listener
      leave(channel, account)
      const accounts = byChannel.get(channel) ?? new Set()
      if (accounts.size >= perChannel) return false
      const others = byAccount.get(account) ?? []
      for (const oldest of others.slice(0, Math.max(0, others.length - perAccount + 1)))
        leave(oldest.channel, account)
      byChannel.set(channel, accounts.add(account))
      byAccount.set(account, [...(byAccount.get(account) ?? []), listener])
      return true
    },
    leave,
    drop(channel) {
      for (const account of byChannel.get(channel) ?? []) leave(channel, account)
    },
    isLive: (channel, account) => channel !== undefined && (byChannel.get(channel)?.has(account) ?? false),
    listeners: (account) => byAccount.get(account) ?? [],
    accounts: () => [...byAccount.keys()],
  }
}
