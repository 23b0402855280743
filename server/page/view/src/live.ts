export function live(): void {}
