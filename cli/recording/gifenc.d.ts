/** The part of gifenc that is used; the package has no types. */
declare module 'gifenc' {
  type Frame = {
    palette?: readonly (readonly [number, number, number])[]
    /** Bits of an index of the palette. */
    colorDepth?: number
    /** Milliseconds. */
    delay?: number
    transparent?: boolean
    transparentIndex?: number
    dispose?: number
  }
  export function GIFEncoder(): {
    writeFrame(pixels: Uint8Array, width: number, height: number, frame: Frame): void
    finish(): void
    bytes(): Uint8Array
  }
}
