#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Registers, bits and values of the STM32 start-up sources and boards, beside ST's own device headers.

Usage: vendor_registers.py FOLDER

FOLDER holds checkouts of ST's device headers anywhere below it (the repositories cmsis_device_f4, _f7, _l4, _g4 and _h7 of
STMicroelectronics on GitHub). They are not in this repository, so this is run by hand when a chip or a board is added. Every
macro of a chip_*.c has to be in the table here, with the expression of the vendor that it is.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "templates" / "bare_metal" / "src"


def register(block, name):
    return f"({block}_BASE + offsetof({block}_TypeDef, {name}))"


def bits(*names):
    return "|".join(f"{n}_Msk" for n in names)


# By source: (macro or literal text, vendor's expression), where {pwr} is what a family calls PWR's first register.
CHIPS = {
    "stm32f4": [
        ("RCC_CR", register("RCC", "CR")), ("RCC_PLLCFGR", register("RCC", "PLLCFGR")), ("RCC_CFGR", register("RCC", "CFGR")),
        ("RCC_APB1ENR", register("RCC", "APB1ENR")), ("PWR_CR", register("PWR", "CR{one}")),
        ("PWR_CSR", register("PWR", "CSR{one}")), ("FLASH_ACR", "(FLASH_R_BASE + offsetof(FLASH_TypeDef, ACR))"),
        ("HSIRDY", bits("RCC_CR_HSIRDY")), ("PLLON", bits("RCC_CR_PLLON")), ("PLLRDY", bits("RCC_CR_PLLRDY")),
        ("PWREN", bits("RCC_APB1ENR_PWREN")), ("VOS_SCALE_1", bits("PWR_CR{one}_VOS")), ("ODEN", bits("PWR_CR{one}_ODEN")),
        ("ODEN", bits("PWR_CSR{one}_ODRDY")), ("ODSWEN", bits("PWR_CR{one}_ODSWEN")),
        ("ODSWEN", bits("PWR_CSR{one}_ODSWRDY")), ("LATENCY", bits("FLASH_ACR_LATENCY")), ("SW_PLL", "RCC_CFGR_SW_PLL"),
        ("3u", bits("RCC_CFGR_SW")), ("SWS", bits("RCC_CFGR_SWS")), ("SW_PLL << 2", "RCC_CFGR_SWS_PLL"),
        ("PRESCALERS", bits("RCC_CFGR_HPRE", "RCC_CFGR_PPRE1", "RCC_CFGR_PPRE2")),
        ("5u << 10 | 4u << 13", "(RCC_CFGR_HPRE_DIV1 | RCC_CFGR_PPRE1_DIV4 | RCC_CFGR_PPRE2_DIV2)"), ("HSI_HZ", None),
        ("0x0F437FFFu", bits("RCC_PLLCFGR_PLLM", "RCC_PLLCFGR_PLLN", "RCC_PLLCFGR_PLLP", "RCC_PLLCFGR_PLLSRC", "RCC_PLLCFGR_PLLQ")),
        ("CHIP_PLL_M | CHIP_PLL_N << 6 | 8u << 24",
         "(CHIP_PLL_M << RCC_PLLCFGR_PLLM_Pos | CHIP_PLL_N << RCC_PLLCFGR_PLLN_Pos | 8u << RCC_PLLCFGR_PLLQ_Pos)")],
    "stm32l4": [
        ("RCC_CR", register("RCC", "CR")), ("RCC_CFGR", register("RCC", "CFGR")), ("RCC_PLLCFGR", register("RCC", "PLLCFGR")),
        ("RCC_APB1ENR1", register("RCC", "APB1ENR1")), ("PWR_CR2", register("PWR", "CR2")), ("PWR_CR5", register("PWR", "CR5")),
        ("FLASH_ACR", "(FLASH_R_BASE + offsetof(FLASH_TypeDef, ACR))"), ("PLLON", bits("RCC_CR_PLLON")),
        ("PLLRDY", bits("RCC_CR_PLLRDY")), ("PLLREN", bits("RCC_PLLCFGR_PLLREN")), ("PWREN", bits("RCC_APB1ENR1_PWREN")),
        ("R1MODE", bits("PWR_CR5_R1MODE")), ("IOSV", "{iosv}"), ("LATENCY", bits("FLASH_ACR_LATENCY")),
        ("CACHES", bits("FLASH_ACR_PRFTEN", "FLASH_ACR_ICEN", "FLASH_ACR_DCEN")), ("SW", bits("RCC_CFGR_SW")),
        ("SW_PLL", "RCC_CFGR_SW_PLL"), ("SWS", bits("RCC_CFGR_SWS")), ("SW_PLL << 2", "RCC_CFGR_SWS_PLL"),
        ("HPRE", bits("RCC_CFGR_HPRE")), ("HPRE_2", "RCC_CFGR_HPRE_DIV2"),
        ("CHIP_PLL_SOURCE | (CHIP_PLL_M - 1u) << 4 | CHIP_PLL_N << 8 | PLLREN",
         "({source} | (CHIP_PLL_M - 1u) << RCC_PLLCFGR_PLLM_Pos | CHIP_PLL_N << RCC_PLLCFGR_PLLN_Pos | RCC_PLLCFGR_PLLREN_Msk)")],
    "stm32h7": [
        ("RCC_CR", register("RCC", "CR")), ("RCC_CFGR", register("RCC", "CFGR")), ("RCC_D1CFGR", register("RCC", "D1CFGR")),
        ("RCC_D2CFGR", register("RCC", "D2CFGR")), ("RCC_D3CFGR", register("RCC", "D3CFGR")),
        ("RCC_PLLCKSELR", register("RCC", "PLLCKSELR")), ("RCC_PLLCFGR", register("RCC", "PLLCFGR")),
        ("RCC_PLL1DIVR", register("RCC", "PLL1DIVR")), ("PWR_CSR1", register("PWR", "CSR1")), ("PWR_CR3", register("PWR", "CR3")),
        ("PWR_D3CR", register("PWR", "D3CR")), ("FLASH_ACR", "(FLASH_R_BASE + offsetof(FLASH_TypeDef, ACR))"),
        ("PLL1ON", bits("RCC_CR_PLL1ON")), ("PLL1RDY", bits("RCC_CR_PLL1RDY")), ("ACTVOSRDY", bits("PWR_CSR1_ACTVOSRDY")),
        ("ACTVOSRDY", bits("PWR_D3CR_VOSRDY")), ("SUPPLY", bits("PWR_CR3_BYPASS", "PWR_CR3_LDOEN", "PWR_CR3_SCUEN")),
        ("LDOEN", bits("PWR_CR3_LDOEN")), ("VOS_SCALE_1", bits("PWR_D3CR_VOS")),
        ("ACR_TIMING", bits("FLASH_ACR_LATENCY", "FLASH_ACR_WRHIGHFREQ")), ("ACR_RESET", None), ("SW", bits("RCC_CFGR_SW")),
        ("SW_PLL1", "RCC_CFGR_SW_PLL1"), ("SWS", bits("RCC_CFGR_SWS")), ("SW_PLL1 << 3", "RCC_CFGR_SWS_PLL1"),
        ("0x3F3u", bits("RCC_PLLCKSELR_PLLSRC", "RCC_PLLCKSELR_DIVM1")),
        ("0x0007000Fu", bits("RCC_PLLCFGR_PLL1FRACEN", "RCC_PLLCFGR_PLL1VCOSEL", "RCC_PLLCFGR_PLL1RGE", "RCC_PLLCFGR_DIVP1EN",
                             "RCC_PLLCFGR_DIVQ1EN", "RCC_PLLCFGR_DIVR1EN")),
        ("2u << 2 | 1u << 16", "(RCC_PLLCFGR_PLL1RGE_2 | RCC_PLLCFGR_DIVP1EN_Msk)"),
        ("(CHIP_PLL_N - 1u) | 1u << 9 | 1u << 16 | 1u << 24",
         "((CHIP_PLL_N - 1u) << RCC_PLL1DIVR_N1_Pos | 1u << RCC_PLL1DIVR_P1_Pos | 1u << RCC_PLL1DIVR_Q1_Pos | 1u << RCC_PLL1DIVR_R1_Pos)"),
        ("0xF7Fu", bits("RCC_D1CFGR_HPRE", "RCC_D1CFGR_D1PPRE", "RCC_D1CFGR_D1CPRE")),
        ("8u | 4u << 4", "(RCC_D1CFGR_HPRE_DIV2 | RCC_D1CFGR_D1PPRE_DIV2)"),
        ("0x770u", bits("RCC_D2CFGR_D2PPRE1", "RCC_D2CFGR_D2PPRE2")),
        ("4u << 4 | 4u << 8", "(RCC_D2CFGR_D2PPRE1_DIV2 | RCC_D2CFGR_D2PPRE2_DIV2)"), ("0x70u", bits("RCC_D3CFGR_D3PPRE")),
        ("4u << 4", "RCC_D3CFGR_D3PPRE_DIV2")],
}
# Of uart.h, older and newer ones.
UARTS = [{"registers": {"CR1": "0", "CR3": "8", "BRR": "0x0C", "ISR": "0x1C", "RDR": "0x24", "TDR": "0x28"},
          "bits": [("9", "USART_CR1_UE", "USART_CR1_TE"), ("0x1000", "USART_CR3_OVRDIS"), ("4", "USART_CR1_RE"),
                   ("0x20", "USART_CR1_RXNEIE"), ("0x20", "USART_ISR_RXNE"), ("0x80", "USART_ISR_TXE")]},
         {"registers": {"SR": "0", "DR": "4", "BRR": "8", "CR1": "0x0C"},
          "bits": [("0x2008", "USART_CR1_UE", "USART_CR1_TE"), ("4", "USART_CR1_RE"), ("0x20", "USART_CR1_RXNEIE"),
                   ("0x20", "USART_SR_RXNE"), ("0x80", "USART_SR_TXE")]}]
QUEUES = {"USART_CR1_RXNEIE": "USART_CR1_RXNEIE_RXFNEIE", "USART_ISR_RXNE": "USART_ISR_RXNE_RXFNE",
          "USART_ISR_TXE": "USART_ISR_TXE_TXFNF"}
# By board: the device's header, names that differ between families, and where its console and pins are.
BOARDS = {
    "nucleo_f446re": ("stm32f446xx.h", {"one": ""}, "AHB1ENR", "GPIOAEN", "APB1ENR", "USART2"),
    "stm32f746g_disco": ("stm32f746xx.h", {"one": "1"}, "AHB1ENR", "GPIOAEN", "APB2ENR", "USART1"),
    "nucleo_l4r5zi": ("stm32l4r5xx.h", {"iosv": "PWR_CR2_IOSV_Msk", "source": "RCC_PLLCFGR_PLLSRC_MSI"}, "AHB2ENR", "GPIOAEN",
                      "APB1ENR2", "LPUART1"),
    "nucleo_g431kb": ("stm32g431xx.h", {"source": "RCC_PLLCFGR_PLLSRC_HSI"}, "AHB2ENR", "GPIOAEN", "APB1ENR1", "USART2"),
    "nucleo_h743zi": ("stm32h743xx.h", {}, "AHB4ENR", "GPIOAEN", "APB1LENR", "USART3"),
}


def rows_of(board, chip, names, ports, port, uarts, uart):
    source = (SOURCES / f"chip_{chip['kind']}.c").read_text()
    macros = dict(re.findall(r"^#define (\w+) +(.*?)(?: +/\*.*)?$", source, re.M))
    table = CHIPS[chip["kind"]]
    missing = set(macros) - {name for name, _ in table}
    if missing:
        raise SystemExit(f"error: chip_{chip['kind']}.c: not in the table: {', '.join(sorted(missing))}")
    for name, vendor in table:
        if name not in source:
            raise SystemExit(f"error: chip_{chip['kind']}.c has no '{name}' any more: mend the table")
        if vendor is None or ("{iosv}" in vendor and "iosv" not in names):
            continue
        ours = name
        while (found := re.sub(r"\b[A-Z]\w+\b", lambda m: f"({macros[m[0]]})" if m[0] in macros else m[0], ours)) != ours:
            ours = found
        for key, value in names.items():
            vendor = vendor.replace(f"{{{key}}}", value)
        for key in ("pll_m", "pll_n", "pll_source"):
            ours, vendor = (t.replace(f"CHIP_{key.upper()}", str(chip.get(key, 0)) + "u") for t in (ours, vendor))
        yield f"chip_{chip['kind']}.c: {name}", ours, vendor
    if "flash_caches" in chip:
        caches = ("PRFTEN", "ARTEN") if names["one"] else ("PRFTEN", "ICEN", "DCEN")
        yield "flash_caches", chip["flash_caches"], bits(*(f"FLASH_ACR_{n}" for n in caches))
    yield "gpio_base", chip["gpio_base"], "GPIOA_BASE"
    yield "ports of 1 KiB", "0x400", "(GPIOB_BASE - GPIOA_BASE)"
    yield "MODER", "0", "offsetof(GPIO_TypeDef, MODER)"
    yield "PUPDR", "0x0C", "offsetof(GPIO_TypeDef, PUPDR)"
    yield "AFRL", "0x20", "offsetof(GPIO_TypeDef, AFR)"
    yield "gpio_enable", chip["gpio_enable"], register("RCC", ports)
    yield "first port's clock", "1", bits(f"RCC_{ports}_{port}")
    yield "uart_enable", chip["uart_enable"], register("RCC", uarts)
    yield "uart_enable_bit", f"(1u << {chip['uart_enable_bit']})", bits(f"RCC_{uarts}_{uart}EN")
    yield "console", board["console"]["base"], f"{uart}_BASE"
    for name, at in UARTS[board["console"]["kind"] == "stm32_usart"]["registers"].items():
        yield f"uart.h: {name}", at, f"offsetof(USART_TypeDef, {name})"
    for ours, *vendor in UARTS[board["console"]["kind"] == "stm32_usart"]["bits"]:
        # Families with a queue in front of the register call the bit by both names.
        queue = chip["kind"] == "stm32h7" or "source" in names
        yield f"uart.h: {vendor}", ours, bits(*(QUEUES.get(v, v) if queue else v for v in vendor))


def check(name, folder, work):
    header, names, *where = BOARDS[name]
    found = sorted(folder.rglob(header))
    if not found:
        raise SystemExit(f"error: there is no {header} in {folder}")
    board = json.loads((ROOT / "boards" / name / "board.json").read_text())
    rows = list(rows_of(board, board["chip"], names, *where))
    text = '#include <stddef.h>\n#include <stdint.h>\n#define __IO volatile\n#define __I volatile const\n' + f'#include "{found[0]}"\n'
    text += "".join(f'_Static_assert((uint32_t)({ours}) == (uint32_t)({vendor}), "{name}: {what}");\n' for what, ours, vendor in rows)
    # The processor's own headers are not needed for any of this.
    for core in ("core_cm4.h", "core_cm7.h"):
        (work / core).write_text("")
    source = work / f"{name}.c"
    source.write_text(text)
    done = subprocess.run(["arm-none-eabi-gcc", "-fsyntax-only", "-I", work, source], capture_output=True, text=True)
    wrong = done.stderr.count("static assertion failed")
    if done.returncode:
        print("\n".join(line for line in done.stderr.splitlines() if "error" in line))
        wrong = max(wrong, 1)
    print(f"{name}: {len(rows) - wrong} of {len(rows)} as in {header}")
    return len(rows) - wrong, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    folder = parser.parse_args().folder.resolve()
    with tempfile.TemporaryDirectory() as work:
        results = [check(name, folder, pathlib.Path(work)) for name in BOARDS]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
