/** The listeners of an ownership. */
import type { Ownership } from './ownership.ts'

type Owns = (walletId: string) => boolean

export class Listeners {
  readonly #onGain: Parameters<Ownership['onGain']>[0][] = []
  readonly #onLoss: Parameters<Ownership['onLoss']>[0][] = []
  readonly #onChange = new Set<() => void>()

  onGain(listener: Parameters<Ownership['onGain']>[0]): void {
    this.#onGain.push(listener)
  }

  onLoss(listener: Parameters<Ownership['onLoss']>[0]): void {
    this.#onLoss.push(listener)
  }

  onChange(listener: () => void): () => void {
    this.#onChange.add(listener)
    return () => void this.#onChange.delete(listener)
  }

  gain(owns: Owns): void {
    for (const listener of this.#onGain) listener(owns)
  }

  async lose(owns: Owns): Promise<void> {
    await Promise.all(this.#onLoss.map((listener) => listener(owns)))
  }

  change(): void {
    for (const listener of this.#onChange) listener()
  }
}
