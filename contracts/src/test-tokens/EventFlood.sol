// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/**
 * @title EventFlood
 * @notice What anyone can deploy to keep those busy who read logs: transfers that never happened, of a token that is none, and
 * real transfers of the smallest amount.
 */
contract EventFlood {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event ExecutionSuccess(bytes32 indexed txHash, uint256 payment);

    /// @notice Logs `times` transfers to `to` that move nothing.
    function pretend(address to, uint256 times) external {
        for (uint256 i = 0; i < times; i++) emit Transfer(msg.sender, to, i + 1);
    }

    /// @notice Logs that `hashes` transactions, from `first` on, were executed, each twice: as a Safe, where one delegates to it.
    function pretendExecutions(bytes32 first, uint256 hashes) external {
        for (uint256 i = 0; i < hashes * 2; i++) emit ExecutionSuccess(bytes32(uint256(first) + i / 2), 0);
    }

    /// @notice Sends one unit of this contract's own tokens to `to`, `times` times.
    function dust(IERC20 token, address to, uint256 times) external {
        for (uint256 i = 0; i < times; i++) token.transfer(to, 1);
    }
}
